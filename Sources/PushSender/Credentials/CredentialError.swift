import Foundation
public import PushTypes

/// The error for a credential that cannot be used. Its description states the remedy and never contains key material.
public enum CredentialError: Error, Hashable, Sendable {
    /// The error for a team identifier that does not consist of 10 letters and digits.
    case badTeamID
    /// The error for a key identifier that does not consist of 10 letters and digits.
    case badKeyID
    /// The error for the text of a signing key that is not a P-256 key in PKCS#8 and PEM.
    case badPrivateKey
    /// The error for a file that cannot be read, for the reason that the operating system reports.
    case unreadableFile(path: String, reason: String)
    /// The error for a file that is larger than ``CredentialFile/maximumSize``.
    case fileTooLarge(path: String)
    /// The error for contents that are neither PEM nor PKCS#12 nor a certificate.
    case unknownFormat
    /// The error for a `.p12` whose structure is damaged, for example by an incomplete transfer.
    case badArchive
    /// The error for a `.p12` that is intact, but uses an encryption that is not supported.
    case unsupportedArchive
    /// The error for an encrypted private key without a passphrase.
    case passphraseMissing
    /// The error for a passphrase that does not decrypt the file.
    case wrongPassphrase
    /// The error for a passphrase that contains NUL or a character that is not ASCII.
    case unsupportedPassphrase
    /// The error for a file that contains no certificate.
    case noCertificate
    /// The error for a certificate that cannot be parsed.
    case badCertificate
    /// The error for a file that contains no private key.
    case noPrivateKey
    /// The error for a private key that is corrupt, or is neither RSA nor EC.
    case unsupportedPrivateKey
    /// The error for a file that contains more than 16 private keys.
    case tooManyKeys
    /// The error for a key derivation with too many iterations: more than 1,000,000, or 2,000,000 in the whole file.
    case tooManyIterations
    /// The error for a private key that does not belong to the certificate.
    case keyDoesNotMatchCertificate
    /// The error for a certificate that is not valid before the associated time.
    case notYetValid(from: Timestamp)
    /// The error for a certificate that has expired at the associated time.
    case expired(since: Timestamp)
    /// The error for a certificate that is not for the associated environment.
    case wrongEnvironment(PushEnvironment)
}

extension CredentialError: CustomStringConvertible {
    /// A readable description of the error, with the remedy.
    public var description: String {
        switch self {
        case .badTeamID: "the team id must be 10 letters or digits, as shown in the developer account's membership page"
        case .badKeyID: "the key id must be 10 letters or digits, as in the file name AuthKey_<key id>.p8"
        case .badPrivateKey: "the private key must be the text of a .p8 file: a P-256 key in PEM, BEGIN PRIVATE KEY"
        case .unreadableFile(let path, let reason): "\(path) cannot be read: \(reason)"
        case .fileTooLarge(let path): "\(path) is larger than 1 MiB, so it is not a credential: check the path"
        case .unknownFormat: "the file is none of .p8, .p12 and PEM: use the key or certificate file as it was exported"
        case .badArchive: "the .p12 is damaged or incomplete: export or copy it again"
        case .unsupportedArchive: "the .p12 uses an encryption that is not supported; \(Self.conversion)"
        case .passphraseMissing: "the private key is encrypted: give its passphrase"
        case .wrongPassphrase: "the passphrase does not open the file: give the one that was set at the export"
        case .unsupportedPassphrase:
            "the passphrase must be ASCII text without NUL to open this file: export it again with another one"
        case .noCertificate, .badCertificate, .noPrivateKey, .unsupportedPrivateKey, .tooManyKeys, .tooManyIterations,
            .keyDoesNotMatchCertificate:
            self.contentDescription
        case .notYetValid(let from):
            "the certificate is not valid before \(Self.text(from)): check this machine's clock"
        case .expired(let since):
            "the certificate expired at \(Self.text(since)): make a new one in the developer account"
        case .wrongEnvironment(let environment):
            "the certificate is not allowed to push to \(environment.rawValue): use one made for that environment"
        }
    }

    private var contentDescription: String {
        switch self {
        case .noCertificate: "the file has no certificate: export certificate and key together, or name both files"
        case .badCertificate: "the certificate cannot be read: download it from the developer account again"
        case .noPrivateKey:
            "there is no private key: export the certificate with its key (in Keychain, open the certificate and select "
                + "both), or name the key's file"
        case .unsupportedPrivateKey:
            "the private key is damaged or of an unknown kind: it must be RSA of 2048 bits or more, or EC"
        case .tooManyKeys: "the file has more than 16 private keys: name one with the certificate and its key alone"
        case .tooManyIterations:
            "the encryption takes more than 1,000,000 iterations for a key, or 2,000,000 for the file: encrypt it again with "
                + "fewer, such as openssl pkcs8 -topk8 -iter 100000 for a key in PEM, openssl pkcs12 -export -iter 100000 for a .p12"
        default: "the private key does not belong to the certificate: use the key that made the signing request"
        }
    }

    private static let conversion =
        "convert it with: openssl pkcs12 -legacy -in old.p12 -nodes -out push.pem, and use push.pem, "
        + "which has no passphrase, so keep it private"

    private static func text(_ time: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(time.seconds)).ISO8601Format()
    }
}
