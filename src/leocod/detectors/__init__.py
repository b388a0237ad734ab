"""What finds objects in a frame. Every file but base.py is one choice of `detector:`."""
