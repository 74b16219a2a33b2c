import PushTypes

/// Checks the client certificates of one environment.
struct CertificateCheck: Sendable {
    let environment: PushEnvironment
    /// Returns the identity in a certificate, which is DER.
    let identify: @Sendable ([UInt8]) -> Result<CertificateIdentity, Reason>
    /// Returns whether an identity that was valid still is: not revoked, not expired.
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
