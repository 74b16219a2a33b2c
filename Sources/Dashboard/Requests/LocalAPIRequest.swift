import Foundation
import HTTPTypes
import PushSupport

/// A request that a page makes to the API in the same process.
struct LocalAPIRequest: Sendable {
    var method = HTTPRequest.Method.get
    /// The path with its query.
    let path: String
    var body: JSONValue?
    var headers: HTTPFields = [:]
    /// The name of the file that is the body.
    var file: String?

    static func get(_ path: String) -> LocalAPIRequest { LocalAPIRequest(path: path) }

    static func post(_ path: String, _ body: JSONValue? = nil) -> LocalAPIRequest {
        LocalAPIRequest(method: .post, path: path, body: body)
    }

    static func put(_ path: String, _ body: JSONValue) -> LocalAPIRequest {
        LocalAPIRequest(method: .put, path: path, body: body)
    }

    static func patch(_ path: String, _ body: JSONValue) -> LocalAPIRequest {
        LocalAPIRequest(method: .patch, path: path, body: body)
    }

    static func delete(_ path: String) -> LocalAPIRequest { LocalAPIRequest(method: .delete, path: path) }

    /// The call as a command line for a shell, without the secrets of its body.
    ///
    /// - Parameter origin: The scheme and the authority of the server.
    func curl(origin: String) -> String {
        var parts = ["curl"]
        if self.method != .get { parts.append("-X \(self.method.rawValue)") }
        parts.append("-H \"Authorization: Bearer $MARTLET_API_KEY\"")
        for field in self.headers { parts.append("-H \(Self.quoted("\(field.name): \(field.value)"))") }
        if let body = self.body.map(Self.withoutSecrets), let text = try? body.text {
            parts.append("-d \(Self.quoted(String(decoding: text, as: UTF8.self)))")
        }
        if let file { parts.append("-T \(Self.quoted(file))") }
        return (parts + [Self.quoted("\(origin)\(self.path)")]).joined(separator: " ")
    }

    /// The members of bodies that no page shows.
    private static let secrets: Set = [
        "authToken", "certificate", "current", "p12", "passphrase", "password", "privateKey", "secret",
    ]

    /// Returns a body with `…` in the place of each secret. The API has secrets in the outermost object only; the data of a
    /// notification may have members of the same names.
    private static func withoutSecrets(_ body: JSONValue) -> JSONValue {
        guard case .object(var members) = body else { return body }
        for name in Self.secrets where members[name] != nil { members[name] = .string("…") }
        return .object(members)
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte.isAlphanumeric || "/:.-_~%".utf8.contains(byte)
        }
        return isPlain ? text : "'\(text.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }
}
