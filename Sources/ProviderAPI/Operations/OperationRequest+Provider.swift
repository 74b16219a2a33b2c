package import Foundation
package import ProviderModel
package import PushHTTP
package import PushStore
package import PushSupport
package import PushTypes

// MARK: Query

extension OperationRequest {
    /// Returns the environment in the query parameter `environment`, or `nil` if it is absent.
    package func environment() throws -> PushEnvironment? {
        try self.value("environment", PushEnvironment.init(named:), orThrow: .invalidEnvironment())
    }

    /// Returns the device token in the query parameter `token`, or `nil` if it is absent.
    package func queryToken() throws -> DeviceToken? {
        try self.value("token", DeviceToken.init(hex:), orThrow: .invalidToken)
    }

    /// Returns the app that the query parameter `app` names, or all apps that the caller may use if it is absent.
    /// - Throws: ``RequestError`` if the named app does not exist or the caller may not use it.
    func queriedApps(_ store: any AppStore) async throws -> [AppRecord] {
        let apps = try await store.apps().filter { self.caller?.mayUse($0.bundleID) ?? true }
        guard let name = self.query["app"] else { return apps }
        guard let app = apps.first(where: { $0.bundleID.name == name }) else {
            throw RequestError.noSuch("app", by: "bundle id", at: "app")
        }
        return [app]
    }
}

// MARK: Path

extension OperationRequest {
    /// Returns the app whose bundle id is in the path.
    /// - Throws: ``RequestError`` with status 404 if there is none.
    package func app(_ store: any AppStore) async throws -> AppRecord {
        guard let app = try await self.context.app(store) else { throw RequestError.noSuch("app", by: "bundle id") }
        return app
    }

    /// Returns the object whose id is in the path.
    /// - Parameters:
    ///   - name: The name of the path parameter, which is also that of the object.
    ///   - find: The closure that returns the object with an id, or `nil` if there is none.
    /// - Throws: ``RequestError`` with the code `no_such_NAME`, such as `no_such_webhook`, for an unknown or invalid
    ///   id.
    package func object<Object>(_ name: String, _ find: (UUID) async throws -> Object?) async throws -> Object {
        guard let id = self.uuid(name), let object = try await find(id) else { throw RequestError.noSuch(name) }
        return object
    }

    /// Returns the environment in the path.
    /// - Throws: ``RequestError`` with status 404 for an unknown name.
    package func pathEnvironment() throws -> PushEnvironment {
        guard let environment = PushEnvironment(named: self.path("environment")) else {
            throw RequestError.invalidEnvironment(.notFound)
        }
        return environment
    }

    /// Returns the device token in the path.
    /// - Throws: ``RequestError`` if the text is not hexadecimal or is too long.
    package func pathToken() throws -> DeviceToken {
        guard let token = DeviceToken(hex: self.path("token")) else { throw RequestError.invalidToken }
        return token
    }

    /// Returns the id of the user in the path.
    /// - Throws: ``RequestError`` for an empty id, or for one of more than ``Member/maximumText`` bytes.
    package func user() throws -> String {
        let user = self.path("user")
        guard (1...Member.maximumText).contains(user.utf8.count) else {
            throw RequestError.invalid("user", "a user id has 1 to \(Member.maximumText) bytes")
        }
        return user
    }
}

extension APIContext {
    /// The bundle id in the path, or `nil` if it is not valid.
    package var bundleID: Topic? { Topic(self.path("app")) }

    /// Returns the app in the path, or `nil` if the bundle id is not valid or the app does not exist.
    package func app(_ store: any AppStore) async throws -> AppRecord? {
        guard let bundleID else { return nil }
        return try await store.app(bundleID: bundleID)
    }
}

extension RequestError {
    package static var invalidToken: RequestError {
        RequestError(.invalid, code: "invalid_token", message: "a device token is hexadecimal here", path: "token")
    }

    package static var noSuchDevice: RequestError { .noSuch("device", by: "token", at: "token") }

    /// Returns the error for an environment without a credential.
    /// - Parameters:
    ///   - environment: The name of the environment that has no credential.
    ///   - hint: Text that is appended to the message.
    ///   - path: The member of the request that the error names, or `nil` if it names none.
    package static func missingCredential(_ environment: String, hint: String = "", at path: String? = nil)
        -> RequestError
    {
        .conflict("missing_credential", "the app has no credential for \(environment)\(hint)", at: path)
    }
}
