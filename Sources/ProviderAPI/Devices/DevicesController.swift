import Hummingbird
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations at `/v1/apps/{app}/devices`, which register, look up and remove devices.
struct DevicesController: Controller {
    let store: any AppStore & DeviceStore & WebPushStore
    let registrar: DeviceRegistrar
    var addresses = AddressPolicy()
    let time: any TimeSource

    private var subscriptions: SubscriptionValidator {
        SubscriptionValidator(store: self.store, addresses: self.addresses)
    }

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/devices"
        let operations: [ProviderOperation] = [
            .init(.post, path, .unaudited, id: "registerDevice", "Adds a device or refreshes it.", self.register)
                .scope(.register).body(DeviceRequest.object.schema, maximum: 64 * 1024)
                .responses(.created(DeviceResponse.schema), .ok(DeviceResponse.schema)).errors(.conflict),
            .init(.post, "\(path):batch", .unaudited, id: "registerDevices", self.registerAll)
                .summary("Adds or refreshes up to 1,000 devices; each entry has its own result.")
                .scope(.register).body(DeviceBatchRequest.object.schema, maximum: 4 * 1024 * 1024)
                .responses(.ok(BatchResponse.schema, "The result of each, in the order of the request.")),
            .init(.get, "\(path)/{token}", id: "showDevice", self.show)
                .summary("The devices with this token: one per environment at most.")
                .scope(.read).responses(.ok(.list("devices", of: DeviceResponse.schema))),
            .init(.delete, "\(path)/{token}", .unaudited, id: "deleteDevice", self.delete)
                .summary("Removes the devices with this token.")
                .scope(.register).parameters(.environment).responses(.noContent),
        ]
        return operations.map { $0.tag(.devices) }
    }

    /// Registers one device. Responds with 201 for a new device, and with 200 for a refreshed one.
    private func register(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let registration = try DeviceRequest.parse(try await request.body())
        try await self.subscriptions.check(registration, app: app.id)
        let registered = try await self.registrar.register([registration], app: app.id, at: self.time.reading)
        let result = registered.results.first
        if case .rejected(let excess)? = result?.kind { throw RequestError(excess) }
        let devices = try await self.store.devices(app: app.id, token: registration.token)
        guard let result, let device = devices.first(where: { $0.id == result.device }) else {
            throw RequestError.noSuchDevice
        }
        return try .json(
            DeviceResponse(device: device, underWay: registered.underWay),
            status: result.kind == .added ? .created : .ok
        )
    }

    /// Registers a batch of devices. An invalid entry produces an error for this entry and does not affect the others.
    private func registerAll(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(DeviceBatchRequest.object)
        guard case .array(let values)? = try fields.value(DeviceBatchRequest.devices),
            (1...DeviceBatchRequest.maximumCount).contains(values.count)
        else {
            throw fields.error(
                "devices",
                "invalid_value",
                "an array of 1 to \(DeviceBatchRequest.maximumCount) registrations"
            )
        }
        var registrations: [DeviceRegistration] = []
        var results: [BatchResponse.Entry?] = []
        for (index, value) in values.enumerated() {
            do {
                let registration = try DeviceBatchRequest.registration(value, index)
                try await self.subscriptions.check(registration, app: app.id, at: "devices[\(index)].")
                registrations.append(registration)
                results.append(nil)
            } catch let error as RequestError {
                results.append(BatchResponse.Entry(error))
            }
        }
        let registered = try await self.registrar.register(registrations, app: app.id, at: self.time.reading)
        var done = registered.results.makeIterator()
        let all = results.enumerated().map { $1 ?? BatchResponse.Entry(done.next(), index: $0) }
        return try .json(BatchResponse(results: all, underWay: registered.underWay))
    }

    /// Responds with the devices that have a token, which may be registered in both environments.
    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let devices = try await self.store.devices(app: app.id, token: try request.pathToken())
        guard !devices.isEmpty else { throw RequestError.noSuchDevice }
        return try .page("devices", devices.map(DeviceResponse.init))
    }

    /// Removes the devices that have a token, in one environment or in both. Responds with 404 if there is none.
    private func delete(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store).id
        let isDeleted = try await self.registrar.delete(
            app: app,
            token: request.pathToken(),
            environment: request.environment(),
            now: self.time.recorded
        )
        guard isDeleted else { throw RequestError.noSuchDevice }
        return .noContent
    }
}

/// The response body with the results of a batch of registrations.
struct BatchResponse: ResponseObject {
    /// The result of one registration of the batch, in the order of the request.
    struct Entry: ResponseObject {
        /// The result: `added`, `refreshed`, `tokenReplaced`, or `refused` with ``error``.
        var result: String
        var id: Int64?
        var error: RequestError?

        init(_ error: RequestError) { (self.result, self.error) = ("refused", error) }

        /// Creates the entry for the result of a registration. A `result` of `nil` counts as refreshed.
        /// - Parameter index: The position of the registration in the request, which the path of an error contains.
        init(_ result: RegistrationResult?, index: Int) {
            switch result?.kind {
            case .rejected(let excess):
                var error = RequestError(excess)
                error.path = "devices[\(index)].\(excess.field)"
                self = Self(error)
                return
            case .added: self.result = "added"
            case .tokenReplaced: self.result = "tokenReplaced"
            case .refreshed, nil: self.result = "refreshed"
            }
            self.id = result?.device
        }

        static let members: [ResponseMember<Self>] = [
            .required("result", \.result, as: .choice(["added", "refreshed", "tokenReplaced", "refused"])),
            .optional("id", \.id),
            .optional("error", \.error),
        ]
    }

    let results: [Entry]
    let underWay: Int?

    static let schemaName: String? = "BatchResults"
    static let members: [ResponseMember<Self>] = [
        .required("results", \.results), .optional("underWay", \.underWay, DeviceResponse.tooLate),
    ]
}

extension DeviceTokenKind: JSONRepresentable {}

/// The response object for a device, with its profile and its state.
package struct DeviceResponse: ResponseObject {
    package let device: DeviceRecord
    /// The number of pushes that were already in flight when the registration changed the preferences or the user, or
    /// removed the oldest Live Activity, and that disregard the change; `nil` for a registration without such a change.
    var underWay: Int?

    private var capabilities: [String] {
        let capabilities = self.device.profile.capabilities
        return DeviceCapabilities.named.filter { capabilities.contains($0.value) }.keys.sorted()
    }
    private var preferences: JSONValue? {
        let preferences = self.device.profile.preferences
        return preferences == Preferences() ? nil : preferences.json
    }
    /// The state of the device: `active`, or `inactive` once its token is known to be invalid.
    package var state: String { self.device.isActive ? "active" : "inactive" }

    /// The description of ``underWay`` in the OpenAPI document, which other responses use as well.
    static let tooLate =
        """
        The pushes that the change of preferences or of the user, or the removal of the oldest Live Activity, came too \
        late for; absent without one.
        """

    package static let schemaName: String? = "Device"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.device.id),
        .required("token", \.device.token.hex),
        .required("environment", \.device.environment),
        .required("kind", \.device.kind, "The kind of the token."),
        .optional("activity", \.device.activity, "The app's id of the Live Activity to which the token belongs."),
        .optional("user", \.device.profile.user),
        .optional("locale", \.device.profile.locale),
        .optional("timeZone", \.device.profile.timeZone),
        .optional("appVersion", \.device.profile.appVersion),
        .optional("installation", \.device.profile.installation),
        .required("capabilities", \.capabilities),
        .required("tags", { $0.device.profile.tags.sorted().map(\.text) }),
        .required("attributes", \.device.profile.attributes, as: .map(of: .any)),
        .optional("preferences", \.preferences, as: Preferences.object.schema, "What the device itself has said."),
        .optional("encryptionKey", \.device.profile.encryptionKey?.json, as: InstallationPublicKey.object.schema),
        .required("state", \.state, as: .choice(["active", "inactive"])),
        .required("createdAtMs", \.device.createdAt),
        .optional("underWay", \.underWay, Self.tooLate),
        .required("registeredAtMs", \.device.registeredAt, "The latest registration, milliseconds since 1970."),
    ]
}

extension DeviceResponse {
    init(device: DeviceRecord) { self.init(device: device, underWay: nil) }
}
