"""What every floor uses: settings, records, files, plugins, errors and what is printed."""
