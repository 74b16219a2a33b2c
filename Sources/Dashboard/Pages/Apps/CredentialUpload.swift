import Foundation
import PushHTTP
import PushSupport
import WebPages

/// Converts an uploaded credential file of any kind into an API request.
enum CredentialUpload {
    /// The names of fields by API members. The field `file` represents three members, one for each kind of file.
    static let names = ["certificate": "file", "p12": "file", "privateKey": "file"]

    /// Returns the body of the API request that sets the credential.
    /// - Throws: ``RequestError`` for a form without a file.
    static func body(_ form: FormData, _ texts: LocalizedTexts) throws -> JSONValue {
        guard let file = form.file("file") else {
            throw PageError.fileMissing.error(texts["credentials.noFile"], field: "file")
        }
        let passphrase = form["passphrase"].flatMap { $0.isEmpty ? nil : JSONValue.string($0) }
        guard let text = String(validating: file.content, as: UTF8.self), text.contains("-----BEGIN ") else {
            let archive = Data(file.content).base64EncodedString()
            return .members(["p12": .string(archive), "passphrase": passphrase])
        }
        guard !text.contains("-----BEGIN CERTIFICATE") else {
            return .members(["certificate": .string(text), "passphrase": passphrase])
        }
        let keyID = form["keyId"].flatMap { $0.isEmpty ? nil : $0 } ?? self.keyID(of: file.fileName)
        return .members([
            "privateKey": .string(text), "keyId": keyID.map(JSONValue.string),
            "teamId": form["teamId"].flatMap { $0.isEmpty ? nil : JSONValue.string($0) },
        ])
    }

    /// Returns the key id in the name of a key file, such as `AuthKey_ABC123DEFG.p8`, which Apple assigns, or `nil` for
    /// any other name.
    static func keyID(of fileName: String) -> String? {
        let match = fileName.wholeMatch(of: #/.*AuthKey_([A-Z0-9]{10})(?: ?\([0-9]+\))?\.p8/#)
        return match.map { String($0.1) }
    }
}
