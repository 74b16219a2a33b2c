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

/// Checks the client certificates of one environment.
struct CertificateCheck: Sendable {
    let environment: PushEnvironment
    /// Returns the identity in a certificate, which is DER.
    let identify: @Sendable ([UInt8]) -> Result<CertificateIdentity, Reason>
    /// Returns whether an identity that was valid still is: neither revoked nor expired.
    var isStillValid: @Sendable (CertificateIdentity) -> Bool = { _ in true }

    /// Returns the identity of a client, or the reason to reject it.
    /// - Parameter certificate: The client's certificate in DER; `nil` if it has none.
    func identity(of certificate: [UInt8]?) -> Result<CertificateIdentity, Reason> {
        guard let certificate else { return .failure(.badCertificate) }
        return self.identify(certificate).flatMap { identity in
            identity.environments.contains(self.environment) ? .success(identity) : .failure(.badCertificateEnvironment)
        }
    }
}
