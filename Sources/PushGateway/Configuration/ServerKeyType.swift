import Crypto
import CryptoExtras
import X509

/// The kind of key of the gateway's server certificate. Each kind has its own files, so that a change back finds the
/// old certificate.
package enum ServerKeyType: String, CaseIterable, Sendable {
    case p256
    /// RSA of 2,048 bits, for clients without elliptic curves.
    case rsa

    var certificateFile: String { self == .p256 ? "server.pem" : "server-rsa.pem" }

    var keyFile: String { self == .p256 ? "server.key" : "server-rsa.key" }

    /// The name in error texts.
    var title: String { self == .p256 ? "P-256" : "RSA" }

    func newKeyPEM() throws -> String {
        switch self {
        case .p256: P256.Signing.PrivateKey().pemRepresentation
        case .rsa: try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
        }
    }

    /// - Throws: An error for text that is not a private key of this kind.
    func publicKey(ofPEM pem: String) throws -> Certificate.PublicKey {
        switch self {
        case .p256: Certificate.PublicKey(try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey)
        case .rsa: Certificate.PublicKey(try _RSA.Signing.PrivateKey(pemRepresentation: pem).publicKey)
        }
    }
}
