import Foundation
public import PushTypes

/// Why a credential cannot be used. Its description never holds key material and says what to do.
public enum CredentialError: Error, Hashable, Sendable {
    case badTeamID
    case badKeyID
    case badPrivateKey
    /// The file cannot be read; `why` is the system's reason.
    case unreadableFile(path: String, why: String)
    /// The file is larger than ``CredentialFile/maximumSize``.
    case fileTooLarge(path: String)
    /// Neither PEM nor PKCS#12 nor a certificate.
    case unknownFormat
    /// The content claims to be a `.p12`, but its structure is broken, such as by a transfer that ended early.
    case badArchive
    /// The archive is intact, but uses an encryption that is not supported.
    case unsupportedArchive
    case passphraseMissing
    case wrongPassphrase
    /// The passphrase has a character that cannot be applied to a private key.
    case unsupportedPassphrase
    case noCertificate
    case badCertificate
    case noPrivateKey
    /// A private key that is damaged, or neither RSA nor EC.
    case unsupportedPrivateKey
    case keyDoesNotMatchCertificate
    case notYetValid(from: Timestamp)
    case expired(since: Timestamp)
    /// The certificate is for the other environment only.
    case wrongEnvironment(PushEnvironment)
}

extension CredentialError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .badTeamID: "the team id must be 10 letters or digits, as shown in the developer account's membership page"
        case .badKeyID: "the key id must be 10 letters or digits, as in the file name AuthKey_<key id>.p8"
        case .badPrivateKey: "the private key must be the text of a .p8 file: a P-256 key in PEM, BEGIN PRIVATE KEY"
        case .unreadableFile(let path, let why): "\(path) cannot be read: \(why)"
        case .fileTooLarge(let path): "\(path) is larger than 1 MiB, so it is not a credential: check the path"
        case .unknownFormat: "the file is none of .p8, .p12 and PEM: use the key or certificate file as it was exported"
        case .badArchive: "the .p12 is damaged or incomplete: export or copy it again"
        case .unsupportedArchive: "the .p12 uses an encryption that is not supported; \(Self.conversion)"
        case .passphraseMissing: "the private key is encrypted: give its passphrase"
        case .wrongPassphrase: "the passphrase does not open the file: give the one that was set at the export"
        case .unsupportedPassphrase:
            "the passphrase must be ASCII text without NUL to open this file: export it again with another one"
        case .noCertificate, .badCertificate, .noPrivateKey, .unsupportedPrivateKey, .keyDoesNotMatchCertificate:
            self.contentDescription
        case .notYetValid(let from):
            "the certificate is not valid before \(Self.text(from)): check this machine's clock"
        case .expired(let since):
            "the certificate expired at \(Self.text(since)): make a new one in the developer account"
        case .wrongEnvironment(let environment):
            "the certificate is not allowed to push to \(environment.rawValue): use one made for that environment"
        }
    }

    /// What is wrong with the certificate or the key.
    private var contentDescription: String {
        switch self {
        case .noCertificate: "the file has no certificate: export certificate and key together, or name both files"
        case .badCertificate: "the certificate cannot be read: download it from the developer account again"
        case .noPrivateKey:
            "there is no private key: export the certificate with its key (in Keychain, open the certificate and select "
                + "both), or name the key's file"
        case .unsupportedPrivateKey:
            "the private key is damaged or of an unknown kind: it must be RSA of 2048 bits or more, or EC"
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
