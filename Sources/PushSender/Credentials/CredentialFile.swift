import Crypto
import Foundation
import NIOSSL
import PushSupport

/// Where a credential lies and what is needed to read it: a `.p8`, a `.p12`, a PEM text, or a certificate and a key.
public struct CredentialFile: Sendable {
    /// Largest file that is read, in bytes: 1 MiB.
    public static let maximumSize = 1 << 20

    public var path: String
    /// Of a `.p12` or an encrypted key.
    public var passphrase: String?
    /// Needed for a `.p8` only.
    public var teamID: String?
    /// Needed for a `.p8` only, unless the file has the name it was downloaded with, `AuthKey_<key id>.p8`.
    public var keyID: String?
    /// The key of a certificate that lies alone in `path`.
    public var keyFile: String?

    public init(
        path: String,
        passphrase: String? = nil,
        teamID: String? = nil,
        keyID: String? = nil,
        keyFile: String? = nil
    ) {
        self.path = path
        self.passphrase = passphrase
        self.teamID = teamID
        self.keyID = keyID
        self.keyFile = keyFile
    }

    /// Reads the files now and tells the format by their content.
    public func load() throws(CredentialError) -> PushCredential {
        let bytes = try Self.read(self.path)
        let key: String? =
            if let keyFile { String(decoding: try Self.read(keyFile), as: UTF8.self) } else { nil }
        let text = PEMText(String(decoding: bytes, as: UTF8.self))
        if text.blocks.isEmpty {
            return .certificate(try self.binary(bytes, key: key))
        }
        let pem = text.blocks.map(\.text).joined()
        if let block = text.blocks.first, text.blocks.count == 1, key == nil, self.isSigningKey(block) {
            return .token(
                try ProviderKey(teamID: self.teamID ?? "", keyID: self.keyID ?? self.guessedKeyID ?? "", pem: pem)
            )
        }
        return .certificate(try ClientCertificate(pem: pem, key: key, passphrase: self.passphrase))
    }

    /// A `.p12`, or a `.cer` next to its key.
    private func binary(_ bytes: [UInt8], key: String?) throws(CredentialError) -> ClientCertificate {
        guard bytes.first == 0x30 else { throw .unknownFormat }
        if let key { return try ClientCertificate(der: bytes, key: key, passphrase: self.passphrase) }
        do {
            return try ClientCertificate(p12: bytes, passphrase: self.passphrase)
        } catch {
            let isCertificate = error == .badArchive && (try? NIOSSLCertificate(bytes: bytes, format: .der)) != nil
            throw isCertificate ? .noPrivateKey : error
        }
    }

    /// A key alone is a signing key if it is P-256; one that is meant to be is told what is wrong with it.
    private func isSigningKey(_ block: PEMText.Block) -> Bool {
        guard block.label == "PRIVATE KEY" else { return false }
        let isMeantToBe = self.teamID != nil || self.path.hasSuffix(".p8")
        return isMeantToBe || (try? P256.Signing.PrivateKey(pemRepresentation: block.text)) != nil
    }

    /// The ten characters of `AuthKey_XXXXXXXXXX.p8`.
    private var guessedKeyID: String? {
        let (prefix, suffix) = ("AuthKey_", ".p8")
        let name = URL(filePath: self.path).lastPathComponent
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        let id = String(name.dropFirst(prefix.count).dropLast(suffix.count))
        return ProviderKey.isIdentifier(id) ? id : nil
    }

    /// Reads one byte more than allowed, so that a file that grows meanwhile is noticed as well.
    private static func read(_ path: String) throws(CredentialError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            bytes = Array(try file.read(upToCount: Self.maximumSize + 1) ?? Data())
        } catch {
            throw .unreadableFile(path: path, why: ErrorDescription.of(error))
        }
        guard bytes.count <= Self.maximumSize else { throw .fileTooLarge(path: path) }
        return bytes
    }
}

extension CredentialFile: CustomStringConvertible {
    /// The paths, never the passphrase.
    public var description: String {
        [self.path, self.keyFile].compactMap { $0 }.joined(separator: " and ")
    }
}
