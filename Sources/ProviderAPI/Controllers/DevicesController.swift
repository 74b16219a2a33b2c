import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// `/v1/apps/{app}/devices`: registration and look-up.
struct DevicesController: Controller {
    /// Registrations in one request.
    static let maximumBatch = 1000

    let store: any ProviderStore
    let time: any TimeSource

    var operations: [APIOperation] {
        [
            APIOperation(
                method: .post,
                path: "/v1/apps/{app}/devices",
                id: "registerDevice",
                summary: "Adds a device or refreshes it.",
                tag: .devices,
                scope: .register,
                body: BodyDescription(schema: .deviceRequest, maximum: 64 * 1024),
                answers: [.created(DeviceResponse.schema), .ok(DeviceResponse.schema)],
                handler: self.register
            ),
            APIOperation(
                method: .post,
                path: "/v1/apps/{app}/devices:batch",
                id: "registerDevices",
                summary: "Adds or refreshes up to 1,000 devices; each entry has its own result.",
                tag: .devices,
                scope: .register,
                body: BodyDescription(
                    schema: .object(required: [
                        "devices": .array(of: .deviceRequest, count: 1...Self.maximumBatch)
                    ]),
                    maximum: 4 * 1024 * 1024
                ),
                answers: [.ok(BatchResponse.schema, "What became of each, in the order of the request.")],
                handler: self.registerAll
            ),
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/devices",
                id: "listDevices",
                summary: "Devices, inactive ones too.",
                tag: .devices,
                scope: .read,
                parameters: [
                    ParameterDescription(name: "user", summary: "Of this user.", schema: .text),
                    ParameterDescription(name: "tag", summary: "With this tag.", schema: .text), .cursor, .limit(),
                ],
                answers: [.ok(DeviceListResponse.schema)],
                cost: .question,
                handler: self.list
            ),
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/devices/{token}",
                id: "showDevice",
                summary: "The devices with this token: one per environment at most.",
                tag: .devices,
                scope: .read,
                answers: [.ok(.list("devices", of: DeviceResponse.schema))],
                handler: self.show
            ),
            APIOperation(
                method: .delete,
                path: "/v1/apps/{app}/devices/{token}",
                id: "deleteDevice",
                summary: "Forgets the devices with this token.",
                tag: .devices,
                scope: .register,
                parameters: [.environment],
                answers: [.noContent],
                handler: self.delete
            ),
        ]
    }

    private func register(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let registration = try DeviceRequest.parse(try await call.body())
        let result = try await self.store.register([registration], app: app.id, now: self.time.now).first
        if case .rejected(let excess)? = result?.kind { throw RequestError(excess) }
        let devices = try await self.store.devices(app: app.id, token: registration.token)
        guard let result, let device = devices.first(where: { $0.id == result.device }) else {
            throw RequestError.noSuchDevice
        }
        return try JSONResponse.make(result.kind == .added ? .created : .ok, DeviceResponse(device))
    }

    private func registerAll(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let fields = try await call.fields(["devices"])
        guard case .array(let values)? = fields.members["devices"], (1...Self.maximumBatch).contains(values.count)
        else {
            throw fields.refusal("devices", "invalid_value", "an array of 1 to \(Self.maximumBatch) registrations")
        }
        var registrations: [DeviceRegistration] = []
        var results: [BatchResponse.Result?] = []
        for (index, value) in values.enumerated() {
            do throws(RequestError) {
                registrations.append(try Self.registration(value, index))
                results.append(nil)
            } catch {
                results.append(BatchResponse.Result(error))
            }
        }
        var done = try await self.store.register(registrations, app: app.id, now: self.time.now).makeIterator()
        let all = results.enumerated().map { $1 ?? BatchResponse.Result(done.next(), index: $0) }
        return try JSONResponse.make(.ok, BatchResponse(results: all))
    }

    private static func registration(_ value: JSONValue, _ index: Int) throws(RequestError) -> DeviceRegistration {
        guard case .object(let members) = value else {
            throw RequestError(
                .invalid,
                code: "wrong_type",
                message: "it must be an object",
                path: "devices[\(index)]"
            )
        }
        return try DeviceRequest.registration(
            JSONFields(members: members, path: "devices[\(index)]", known: DeviceRequest.members)
        )
    }

    private func list(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let limit = try call.limit()
        var conditions: [AudienceExpression] = []
        if let user = call.query["user"] { conditions.append(.user(user)) }
        if let tag = call.query["tag"] { conditions.append(.tag(tag)) }
        let devices = try await self.store.devices(
            app: app.id,
            audience: conditions.count > 1 ? .and(conditions) : conditions.first ?? .everyone,
            after: try call.cursor(.devices) ?? 0,
            limit: limit
        )
        return try JSONResponse.make(.ok, DeviceListResponse(devices, limit: limit))
    }

    private func show(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let devices = try await self.store.devices(app: app.id, token: try call.pathToken())
        guard !devices.isEmpty else { throw RequestError.noSuchDevice }
        return try JSONResponse.make(.ok, ["devices": devices.map(DeviceResponse.init)])
    }

    private func delete(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let deleted = try await self.store.deleteDevices(
            app: app.id,
            token: try call.pathToken(),
            environment: try call.environment(),
            now: self.time.now
        )
        guard deleted > 0 else { throw RequestError.noSuchDevice }
        return Response(status: .noContent)
    }
}

extension RequestError {
    static var noSuchDevice: RequestError {
        RequestError(
            .notFound,
            code: "no_such_device",
            message: "no device of this app has this token",
            path: "token"
        )
    }
}

/// What became of each registration of a batch.
struct BatchResponse: Encodable {
    struct Result: Encodable {
        struct Refusal: Encodable {
            var code: String
            var message: String
            var field: String?
        }

        /// `added`, `refreshed`, `tokenReplaced` or `refused`.
        var result: String
        var id: Int64?
        var error: Refusal?

        init(_ refusal: RequestError) {
            self.result = "refused"
            self.error = Refusal(code: refusal.code, message: refusal.message, field: refusal.path)
        }

        init(_ result: RegistrationResult?, index: Int) {
            switch result?.kind {
            case .rejected(let excess):
                let refusal = RequestError(excess)
                self.result = "refused"
                self.error = Refusal(
                    code: refusal.code,
                    message: refusal.message,
                    field: "devices[\(index)].\(excess.field)"
                )
                return
            case .added: self.result = "added"
            case .tokenReplaced: self.result = "tokenReplaced"
            case .refreshed, nil: self.result = "refreshed"
            }
            self.id = result?.device
        }
    }

    var results: [Result]

    static let schema: Schema = {
        let error = Schema.object(
            required: ["code": .string(), "message": .string()],
            optional: ["field": .string()]
        )
        return .list(
            "results",
            of: .object(
                required: ["result": .choice(["added", "refreshed", "tokenReplaced", "refused"])],
                optional: ["id": .integer(), "error": error]
            )
        ).named("BatchResults")
    }()
}
