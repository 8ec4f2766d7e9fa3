//! Git repositories for hedgerow: configuration, refs, index, attributes, checkout
