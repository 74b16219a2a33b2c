import Hummingbird
import PushHTTP
import PushProtocol
import PushStore

/// A request of the REST API, with the API key that it came with.
struct APIContext: JSONContext {
    var coreContext: CoreRequestContextStorage
    /// `nil` on the paths that need none.
    var key: APIKeyRecord?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
    }

    /// 1 MB.
    var maxUploadSize: Int { 1024 * 1024 }

    /// - Throws: 403 if the key does not allow it.
    func require(_ scope: APIScope) throws {
        guard let key, key.scopes.contains(scope) || key.scopes.contains(.admin) else {
            throw APIRefusal(
                status: 403,
                code: "missing_scope",
                message: "this API key lacks the scope \(scope.rawValue)",
                field: "authorization"
            )
        }
    }

    /// The app whose bundle id stands in the path.
    func app(_ store: any AppStore) async throws -> AppRecord {
        guard let bundleID = self.parameters.get("app").flatMap({ Topic($0) }),
            let app = try await store.app(bundleID: bundleID)
        else {
            throw APIRefusal(
                status: 404,
                code: "no_such_app",
                message: "there is no app with this bundle id",
                field: "app"
            )
        }
        return app
    }
}
