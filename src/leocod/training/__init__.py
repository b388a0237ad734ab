"""What an update of the weights needs: batches, gradients, processes that train as one."""
