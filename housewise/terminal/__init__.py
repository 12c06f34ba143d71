"""What commands and experiments share on the terminal: options, names, folders of runs, progress and tables."""
