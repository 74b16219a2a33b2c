import Crypto
import Foundation
import NIOSSL
import PushSupport

/// The files of a credential and their passphrase. They are a `.p8`, a `.p12`, a PEM file, or a certificate and a key.
public struct CredentialFile: Sendable {
    /// The maximum size of a file, in bytes: 1 MiB. A larger file results in ``CredentialError/fileTooLarge(path:)``.
    public static let maximumSize = 1 << 20

    /// The path of the file with the credential.
    public var path: String
    /// The passphrase of a `.p12` or an encrypted key, or `nil` if there is none.
    public var passphrase: String?
    /// The identifier of the developer team for a `.p8`, or `nil` for other formats.
    public var teamID: String?
    /// The key identifier for a `.p8`, or `nil` to take it from a file name such as `AuthKey_ABC123DEFG.p8`.
    public var keyID: String?
    /// The path of the private key's file, if ``path`` contains only the certificate, or otherwise `nil`.
    public var keyFile: String?

    /// Creates a description of the files from the values of its properties. ``load()`` reads the files.
    public init(
        path: String,
        passphrase: String? = nil,
        teamID: String? = nil,
        keyID: String? = nil,
        keyFile: String? = nil
    ) {
        (self.path, self.passphrase, self.teamID) = (path, passphrase, teamID)
        (self.keyID, self.keyFile) = (keyID, keyFile)
    }

    /// Reads the credential from the files. The format is recognized from the contents.
    /// - Throws: ``CredentialError``, whose description states the remedy.
    public func load() throws(CredentialError) -> PushCredential {
        let bytes = try Self.read(self.path)
        let key: String? =
            if let keyFile { String(decoding: try Self.read(keyFile), as: UTF8.self) } else { nil }
        let text = PEMFile(String(decoding: bytes, as: UTF8.self))
        if text.blocks.isEmpty {
            return .certificate(try self.certificate(bytes, key: key))
        }
        let pem = text.blocks.map(\.text).joined()
        if let block = text.blocks.first, text.blocks.count == 1, key == nil, self.isSigningKey(block) {
            return .token(
                try ProviderKey(teamID: self.teamID ?? "", keyID: self.keyID ?? self.keyIDOfName ?? "", pem: pem)
            )
        }
        return .certificate(try ClientCertificate(pem: pem, key: key, passphrase: self.passphrase))
    }

    /// Parses a `.p12` if `key` is `nil`, or otherwise a `.cer` with `key` as the text of its key.
    private func certificate(_ bytes: [UInt8], key: String?) throws(CredentialError) -> ClientCertificate {
        guard bytes.first == 0x30 else { throw .unknownFormat }
        if let key { return try ClientCertificate(der: bytes, key: key, passphrase: self.passphrase) }
        do {
            return try ClientCertificate(p12: bytes, passphrase: self.passphrase)
        } catch {
            let isCertificate = error == .badArchive && (try? NIOSSLCertificate(bytes: bytes, format: .der)) != nil
            throw isCertificate ? .noPrivateKey : error
        }
    }

    /// Returns whether a key that is alone in its file is a signing key, which is P-256. If the caller has set a team
    /// or the file has the extension `.p8`, any key counts as a signing key, so that an error describes what is wrong
    /// with the key.
    func isSigningKey(_ block: PEMFile.Block) -> Bool {
        guard block.label == "PRIVATE KEY" else { return false }
        let isExpected = self.teamID != nil || self.path.hasSuffix(".p8")
        return isExpected || (try? P256.Signing.PrivateKey(pemRepresentation: block.text)) != nil
    }

    /// The key identifier in a file name of Apple's form, `AuthKey_ABC123DEFG.p8`, or `nil` for any other name.
    var keyIDOfName: String? {
        let (prefix, suffix) = ("AuthKey_", ".p8")
        let name = URL(filePath: self.path).lastPathComponent
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        let id = String(name.dropFirst(prefix.count).dropLast(suffix.count))
        return ProviderKey.isIdentifier(id) ? id : nil
    }

    /// Returns the contents of a file of at most ``maximumSize`` bytes.
    /// - Throws: ``CredentialError`` for a larger file, or one that cannot be read.
    static func read(_ path: String) throws(CredentialError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            bytes = Array(try file.read(upToCount: Self.maximumSize + 1) ?? Data())
        } catch {
            throw .unreadableFile(path: path, reason: ErrorDescription.of(error))
        }
        guard bytes.count <= Self.maximumSize else { throw .fileTooLarge(path: path) }
        return bytes
    }
}

extension CredentialFile: CustomStringConvertible {
    /// The paths of the files, without the passphrase.
    public var description: String { [self.path, self.keyFile].compactMap { $0 }.joined(separator: " and ") }
}
