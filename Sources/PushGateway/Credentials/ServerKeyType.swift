import Crypto
import CryptoExtras
import X509

/// The kind of key of the gateway's server certificate. Each kind has files of its own, so that a change back finds the
/// old certificate.
package enum ServerKeyType: String, CaseIterable, Sendable {
    case p256
    /// 2048 bits: for clients that know no elliptic curves.
    case rsa

    var certificateFile: String { self == .p256 ? "server.pem" : "server-rsa.pem" }

    var keyFile: String { self == .p256 ? "server.key" : "server-rsa.key" }

    /// For messages.
    var title: String { self == .p256 ? "P-256" : "RSA" }

    func newKeyPEM() throws -> String {
        switch self {
        case .p256: P256.Signing.PrivateKey().pemRepresentation
        case .rsa: try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
        }
    }

    /// - Throws: for a text that is no private key of this kind.
    func publicKey(ofPEM pem: String) throws -> Certificate.PublicKey {
        switch self {
        case .p256: Certificate.PublicKey(try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey)
        case .rsa: Certificate.PublicKey(try _RSA.Signing.PrivateKey(pemRepresentation: pem).publicKey)
        }
    }
}
