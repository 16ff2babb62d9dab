"""Problems, time series and states of instances in the answers of the REST interface."""
