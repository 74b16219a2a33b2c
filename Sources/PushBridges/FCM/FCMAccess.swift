import HTTPTypes
import Hummingbird
import ProviderModel
import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// Authenticates requests of FCM clients, and finds the FCM bridge that they address. Each bridge is an FCM project.
struct FCMAccess: Sendable {
    let access: BridgeAuthenticator
    let table: BridgeTable
    let store: any AppStore

    /// Authenticates a request and returns the project that its path names.
    /// - Parameter scope: The scope that an API key needs. A secret in the path grants all scopes for its project.
    /// - Throws: ``FCMError`` for a project that does not exist, or for which the credential or its scope is not valid.
    func project(_ request: Request, _ context: APIContext, scope: APIScope) async throws -> FCMSender.Project {
        let name = context.path("project")
        if context.parameters.get("secret") != nil {
            guard context.parameters.get("project") == nil || context.path("bridge") == name else {
                throw FCMError.permissionDenied("The secret is that of another project.")
            }
            return try await self.project(bySecretIn: context)
        }
        let admission = BridgeAuthenticator.Admission.key(try await self.access.key(of: request, context))
        guard let bridge = try await self.table[name], let app = try await self.store.app(id: bridge.app) else {
            throw FCMError.permissionDenied("There is no project \(name.prefix(100)), or this key is not for it.")
        }
        return try self.project(bridge, app, admission, scope)
    }

    /// Returns the only project that the caller may use, for a request whose path names no project.
    /// - Parameters:
    ///   - admission: The credential of the caller.
    ///   - bundleID: The app that the request names, or `nil` for none.
    ///   - scope: The scope that the caller needs for the app.
    /// - Throws: ``FCMError`` for a caller that may use no project or several.
    func onlyProject(
        _ admission: BridgeAuthenticator.Admission,
        bundleID: Topic? = nil,
        scope: APIScope
    ) async throws -> FCMSender.Project {
        var found: [FCMSender.Project] = []
        for bridge in try await self.table.value.values {
            guard let app = try await self.store.app(id: bridge.app), bundleID == nil || app.bundleID == bundleID,
                admission.allows(scope, on: app.bundleID)
            else { continue }
            found.append(try self.project(bridge, app, admission, scope))
        }
        guard found.count <= 1 else {
            throw FCMError.permissionDenied("This key is for several projects: use one that is limited to an app.")
        }
        guard let project = found.first else {
            throw FCMError.permissionDenied("This key is for no project, or lacks the scope \(scope.rawValue).")
        }
        return project
    }

    /// Authenticates a request by the secret in its path, and returns the project of that secret.
    /// - Throws: ``RequestError`` for a wrong secret, ``RetryLaterError`` after too many wrong secrets or requests.
    func project(bySecretIn context: APIContext) async throws -> FCMSender.Project {
        let bridge = try await self.table[context.path("bridge")]
        var app: AppRecord?
        if let bridge { app = try await self.store.app(id: bridge.app) }
        try self.access.checkSecret(context.path("secret"), of: bridge, app: app?.bundleID, context)
        guard let bridge, let app else { throw RequestError.internalFailure }
        return try .init(bridge: bridge, app: app, settings: FCMSettings(bridge), admission: .secret(app.bundleID))
    }

    private func project(
        _ bridge: BridgeRecord,
        _ app: AppRecord,
        _ admission: BridgeAuthenticator.Admission,
        _ scope: APIScope
    ) throws -> FCMSender.Project {
        guard admission.allows(scope, on: app.bundleID) else {
            let name = bridge.name
            throw FCMError.permissionDenied(
                "There is no project \(name), or this key is not for it: it needs the scope \(scope.rawValue)."
            )
        }
        return try .init(bridge: bridge, app: app, settings: FCMSettings(bridge), admission: admission)
    }

    /// Runs `body` and converts its errors into responses of FCM. At `/metrics`, the request counts as `operation`.
    /// - Parameter error: Creates the response to an error.
    func respond(
        _ operation: String,
        _ context: APIContext,
        error: (FCMError) -> Response = Self.response,
        _ body: () async throws -> Response
    ) async -> Response {
        let name = context.parameters.get("project") ?? context.parameters.get("bridge") ?? ""
        return await self.access.respond(operation, bridge: String(name), failure: { error(FCMError($0)) }) {
            do {
                return try await body()
            } catch let failure as FCMError {
                return error(failure)
            }
        }
    }

    static func response(_ error: FCMError) -> Response { self.response(error, body: error.json) }

    /// Returns the response to an error, with a body in another format than that of FCM's HTTP v1 API.
    static func response(_ error: FCMError, body: JSONValue) -> Response {
        let status = HTTPResponse.Status(code: error.status)
        var headers: HTTPFields = [:]
        if error.status == 503 || error.status == 429 { headers[.retryAfter] = "10" }
        if error.status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return (try? .json(body, status: status, headers: headers)) ?? Response(status: status)
    }
}
