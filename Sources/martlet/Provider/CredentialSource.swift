import ArgumentParser
import Foundation
import PushSender
import PushSupport
import PushTypes

/// A credential in files, as `martlet send --credential` takes it, and the request that hands it to a provider.
struct CredentialSource: ParsableArguments {
    @Argument(help: "sandbox or production.")
    var environment: PushEnvironment

    @Argument(help: "A .p8 key, a .p12 archive or a PEM file.")
    var file: String

    @Option(help: "The private key of a PEM certificate, if it lies in another file.")
    var keyFile: String?

    @Option(help: "Team id, for a .p8 key.")
    var teamID: String?

    @Option(help: "Key id, for a .p8 key; default: from the file name AuthKey_<key id>.p8.")
    var keyID: String?

    @Option(help: "Passphrase of the credential; better given as MARTLET_CREDENTIAL_PASSPHRASE.")
    var passphrase: String?

    /// The members of the request.
    /// - Throws: ``CredentialError`` for files that could not be used.
    func members(passphrase: String?) throws -> [String: JSONValue?] {
        let credential = try PushCredential.load(
            file: self.file,
            passphrase: passphrase,
            teamID: self.teamID,
            keyID: self.keyID,
            keyFile: self.keyFile
        )
        let content = try Self.read(self.file)
        if case .token(let key) = credential {
            return [
                "teamId": .string(key.teamID), "keyId": .string(key.keyID),
                "privateKey": .string(String(decoding: content, as: UTF8.self)),
            ]
        }
        let secret = passphrase.map(JSONValue.string)
        let text = String(decoding: content, as: UTF8.self)
        guard text.contains("-----BEGIN ") else {
            guard self.keyFile == nil else {
                throw ValidationError("A provider takes a certificate with a key of its own in PEM, not in DER.")
            }
            return ["p12": .string(content.base64EncodedString()), "passphrase": secret]
        }
        let key = try self.keyFile.map { String(decoding: try Self.read($0), as: UTF8.self) }
        let parts = [text, key].compactMap { $0 }.map { $0.hasSuffix("\n") ? $0 : $0 + "\n" }
        return ["certificate": .string(parts.joined()), "passphrase": secret]
    }

    private static func read(_ path: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            throw SettingsError("\(path) cannot be read: \(ErrorDescription.of(error))")
        }
    }
}
