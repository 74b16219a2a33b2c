import PushHTTP
import PushStore
import PushSupport
import WebPages

/// The pages of one app.
extension PageRequest {
    /// The bundle id of the page's app.
    var app: String { self.parameter("app") }

    /// The path of the app below ``Dashboard/root``. With `/v1` before it, it is the app's path in the API.
    var appPath: String { Self.appPath(self.app) }

    /// Returns the path of an app below ``Dashboard/root``.
    static func appPath(_ app: String) -> String { "/apps/\(FormText.encoded(app))" }

    /// Returns a GET for part of the app in the API.
    func getOfApp(_ path: String) async throws -> JSONValue { try await self.get("/v1\(self.appPath)\(path)") }

    /// Refuses a page that is of no use without a scope. The API itself checks each request again.
    ///
    /// - Throws: ``RequestError``.
    func require(_ scope: APIScope) throws {
        guard !self.may(scope) else { return }
        let message = self.texts["failure.scope", ["scope": scope.rawValue]]
        throw RequestError(.forbidden, code: "missing_scope", message: message)
    }

    /// The variable `may`: what the caller's scopes allow.
    var permissions: PageModel {
        [
            "send": self.may(.send), "register": self.may(.register), "operate": self.may(.operate),
            "admin": self.may(.admin),
        ]
    }

    /// Returns the links of a list's pager: to the first page, unless this is it, and to the next one.
    func pager(_ next: JSONValue, path: String, _ filters: KeyValuePairs<String, String?> = [:]) -> PageModel? {
        let query = FormText.query(filters)
        var model: PageModel = [:]
        if self.query("cursor") != nil { model["first"] = "\(Dashboard.root)\(path)\(query)" }
        if let cursor = next.stringValue {
            let join = query.isEmpty ? "?" : "&"
            model["next"] = "\(Dashboard.root)\(path)\(query)\(join)cursor=\(FormText.encoded(cursor))"
        }
        return model.isEmpty ? nil : model
    }
}

extension PageValue {
    /// Returns the values of a JSON object's members; none for any other value.
    static func members(_ json: JSONValue) -> PageModel {
        if case .object(let members) = json { Self.model(members) } else { [:] }
    }
}

extension JSONValue {
    /// Indicates whether it is `true`, and no other value.
    var isTrue: Bool { self == .bool(true) }
}
