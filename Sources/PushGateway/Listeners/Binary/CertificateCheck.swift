import PushTypes

/// Who connects to a legacy door, as far as this gateway's environment lets them.
struct CertificateCheck: Sendable {
    let environment: PushEnvironment
    /// Who a certificate, in DER, stands for.
    let identify: @Sendable ([UInt8]) -> Result<CertificateIdentity, Reason>
    /// Whether one that was found good still is: not revoked, not expired.
    var isStillGood: @Sendable (CertificateIdentity) -> Bool = { _ in true }

    /// - Parameter certificate: what the client has shown, in DER.
    func identity(of certificate: [UInt8]?) -> Result<CertificateIdentity, Reason> {
        guard let certificate else { return .failure(.badCertificate) }
        return self.identify(certificate).flatMap { identity in
            identity.environments.contains(self.environment) ? .success(identity) : .failure(.badCertificateEnvironment)
        }
    }
}
