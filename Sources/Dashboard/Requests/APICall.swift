import Foundation
import HTTPTypes
import PushSupport

/// A request to the API that a page makes.
struct APICall: Sendable {
    var method = HTTPRequest.Method.get
    /// The path with its query.
    let path: String
    var body: JSONValue?
    var headers: HTTPFields = [:]
    /// The members of the body that no page shows.
    var secrets: Set<String> = []
    /// The name of the file that is the body.
    var file: String?

    static func get(_ path: String) -> APICall { APICall(path: path) }

    static func post(_ path: String, _ body: JSONValue? = nil) -> APICall {
        APICall(method: .post, path: path, body: body)
    }

    static func put(_ path: String, _ body: JSONValue) -> APICall { APICall(method: .put, path: path, body: body) }

    static func patch(_ path: String, _ body: JSONValue) -> APICall { APICall(method: .patch, path: path, body: body) }

    static func delete(_ path: String) -> APICall { APICall(method: .delete, path: path) }

    /// The call as a command line for a shell.
    ///
    /// - Parameter origin: The scheme and the authority of the server.
    func curl(origin: String) -> String {
        var parts = ["curl"]
        if self.method != .get { parts.append("-X \(self.method.rawValue)") }
        parts.append("-H \"Authorization: Bearer $MARTLET_API_KEY\"")
        for field in self.headers { parts.append("-H \(Self.quoted("\(field.name): \(field.value)"))") }
        if let body = self.body?.hiding(self.secrets), let text = try? body.text {
            parts.append("-d \(Self.quoted(String(decoding: text, as: UTF8.self)))")
        }
        if let file { parts.append("-T \(Self.quoted(file))") }
        return (parts + [Self.quoted("\(origin)\(self.path)")]).joined(separator: " ")
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte.isAlphanumeric || "/:.-_~%".utf8.contains(byte)
        }
        return isPlain ? text : "'\(text.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }
}

extension JSONValue {
    /// Returns this object with `***` in place of the values of some members.
    fileprivate func hiding(_ names: Set<String>) -> JSONValue {
        guard case .object(var members) = self else { return self }
        for name in names where members[name] != nil { members[name] = .string("***") }
        return .object(members)
    }
}
