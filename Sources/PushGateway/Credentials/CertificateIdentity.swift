import PushTypes

/// Who a provider has proven to be by its TLS certificate (reference 2.2).
struct CertificateIdentity: Hashable, Sendable {
    /// Lower-case hexadecimal.
    var serial: String
    /// Where it may connect: OIDs …6.3.1 and …6.3.2.
    var environments: Set<PushEnvironment>
    /// The subject's UID: what is meant where a push names no topic.
    var defaultTopic: Topic
    /// All it may push to (OID …6.3.6, else the default topic alone).
    var topics: Set<Topic>
    /// Until when it is valid: a connection can outlive it.
    var expiresAt = Timestamp(milliseconds: .max)
}
