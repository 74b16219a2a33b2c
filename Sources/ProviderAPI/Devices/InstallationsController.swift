import HTTPTypes
import HummingbirdCore
package import ProviderModel
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport

/// The operations at `/v1/apps/{app}/installations`, which an app may call with a public key for its own installation.
/// Every copy of the app contains the public key, so the key proves nothing. A caller proves that it is the
/// installation with the token that it has registered, or with the secret that each successful response contains
/// (docs/decisions/0024).
struct InstallationsController: Controller {
    let store: any AppStore & DeviceStore & UserSecretStore & WebPushStore
    let registrar: DeviceRegistrar
    var addresses = AddressPolicy()
    let time: any TimeSource

    /// The response to a registration, with the secret by which the app later proves that it is this installation.
    private struct Registered: ResponseObject {
        let secret: String
        /// The number of pushes that were already in flight when the registration changed the preferences or the user,
        /// or removed the oldest Live Activity; `nil` if it did none of these.
        let underWay: Int?

        static let schemaName: String? = "Installation"
        static let members: [ResponseMember<Self>] = [
            .required("secret", \.secret, "What the app keeps, and sends with a later token."),
            .optional("underWay", \.underWay, DeviceResponse.tooLate),
        ]
    }

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/installations/{installation}"
        let operations: [ProviderOperation] = [
            .init(.put, path, .unaudited, id: "registerSelf", "Registers the caller's own device.", self.register)
                .body(InstallationRequest.object.schema, maximum: 16 * 1024).responses(.ok(Registered.schema))
                .errors(.conflict),
            .init(.delete, path, .unaudited, id: "deleteSelf", "Removes the caller's own device.", self.delete)
                .parameters(.installationSecret).responses(.noContent),
        ]
        return operations.map { $0.tag(.devices).scope(.registerSelf) }
    }

    /// Registers or refreshes the device of an installation. Responds with the secret of the installation.
    private func register(_ request: OperationRequest) async throws -> Response {
        let (app, installation) = (try await request.app(self.store), try request.installation())
        let fields = try await request.fields(InstallationRequest.object)
        let secret = self.store.installationSecret(installation, of: app.bundleID)
        let own = try fields.value(InstallationRequest.secret)
        var registration = try DeviceRequest.ownRegistration(fields, app: app)
        registration.installation = installation
        try await SubscriptionValidator(store: self.store, addresses: self.addresses).check(registration, app: app.id)
        registration.user = try await self.user(fields, app, installation)
        let registered = try await self.registrar.registerOwn(
            registration,
            isProven: own.map { InstallationSecret.isEqual($0, secret) } ?? false,
            app: app.id,
            at: self.time.reading
        )
        guard let registered else {
            let message = "this installation has another token: send its secret, that of an earlier response"
            throw RequestError(.forbidden, code: "not_own_installation", message: message, path: "secret")
        }
        if case .rejected(let excess)? = registered.results.first?.kind { throw RequestError(excess) }
        return try .json(Registered(secret: secret, underWay: registered.underWay))
    }

    /// Returns the change of the installation's user, which sets the user that the request proves, or removes the user
    /// for `null`. Returns `nil` for no change.
    private func user(_ fields: JSONFields, _ app: AppRecord, _ installation: String) async throws -> Update<String>? {
        if fields.nulls.contains(InstallationRequest.userProof.name) { return .clear }
        guard let text = try fields.value(InstallationRequest.userProof) else { return nil }
        let secrets = try await self.store.userSecrets(app: app.id)
        return .set(try UserProof(text, secrets: secrets, installation: installation, now: self.time.now).user)
    }

    /// Removes the devices of an installation. The response is the same if the installation has none.
    private func delete(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let installation = try request.ownInstallation(of: app, self.store)
        try await self.registrar.delete(app: app.id, installation: installation, now: self.time.recorded)
        return .noContent
    }
}

extension OperationRequest {
    /// Returns the id of the installation in the path.
    /// - Throws: ``RequestError`` unless the id has 8 to ``Member/maximumText`` bytes.
    package func installation() throws -> String {
        let installation = self.path("installation")
        guard (8...Member.maximumText).contains(installation.utf8.count) else {
            let message =
                "an installation has 8 to \(Member.maximumText) bytes: use a UUID that the app makes once"
            throw RequestError.invalid("installation", message)
        }
        return installation
    }
}

extension ParameterDescription {
    /// The header field with the secret with which a request proves that it is from an installation.
    package static let installationSecret = Self.header(
        "installation-secret",
        "The secret of the installation.",
        .string(length: 1...100, pattern: "^[!-~]+$")
    )
}

extension OperationRequest {
    /// Returns the id of the installation in the path, after checking the request's secret.
    /// - Throws: ``RequestError`` for a request without the installation's secret.
    package func ownInstallation(of app: AppRecord, _ store: any UserSecretStore) throws -> String {
        let installation = try self.installation()
        try InstallationSecret.check(in: self, store.installationSecret(installation, of: app.bundleID))
        return installation
    }
}
