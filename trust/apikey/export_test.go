package apikey

// TrustedOwner is what decides whose files are read.
var TrustedOwner = trustedOwner
