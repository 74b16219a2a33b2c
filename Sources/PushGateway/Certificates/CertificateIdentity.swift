import PushTypes

/// The identity of a provider by its TLS certificate (reference 2.2).
struct CertificateIdentity: Hashable, Sendable {
    /// The serial number in lower-case hexadecimal.
    var serial: String
    /// The environments to which it may connect: OIDs …6.3.1 and …6.3.2.
    var environments: Set<PushEnvironment>
    /// The subject's UID: the topic of a push without one.
    var defaultTopic: Topic
    /// All topics that it may push to: OID …6.3.6, else the default topic alone.
    var topics: Set<Topic>
    /// The end of its validity, which a connection can outlive.
    var expiresAt = Timestamp(milliseconds: .max)
}
