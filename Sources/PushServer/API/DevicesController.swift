import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// `/v1/apps/{app}/devices`: registration and look-up.
struct DevicesController: Sendable {
    let store: any PushStore
    let time: any TimeSource

    private struct Device: Encodable {
        var id: Int64
        var token: String
        var environment: String
        var user: String?
        var locale: String?
        var timeZone: String?
        var tags: [String]
        /// `active`, or `inactive` once the push service said that the token is dead.
        var state: String
        var registeredAtMs: Int64

        init(_ device: DeviceRecord) {
            self.id = device.id
            self.token = device.token.hex
            self.environment = device.environment.rawValue
            self.user = device.profile.user
            self.locale = device.profile.locale
            self.timeZone = device.profile.timeZone
            self.tags = device.profile.tags.sorted()
            self.state = device.isActive ? "active" : "inactive"
            self.registeredAtMs = device.registeredAt.milliseconds
        }
    }

    private struct Page: Encodable {
        var devices: [Device]
        /// Ask for what follows with `after`; absent at the end.
        var next: Int64?
    }

    func addRoutes(to group: RouterGroup<APIContext>) {
        group.get("apps/:app/devices", use: self.list).post("apps/:app/devices", use: self.register)
        group.get("apps/:app/devices/:token", use: self.show)
        group.delete("apps/:app/devices/:token", use: self.delete)
    }

    @Sendable private func register(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.register)
        let app = try await context.app(self.store)
        let registration = try DeviceRequest.parse(try await context.body(of: request))
        let result = try await self.store.register([registration], app: app.id, now: self.time.now).first
        let devices = try await self.store.devices(app: app.id, token: registration.token)
        guard let result, let device = devices.first(where: { $0.id == result.device }) else {
            throw Self.noSuchDevice
        }
        return try JSONAnswer.make(result.kind == .added ? .created : .ok, Device(device))
    }

    @Sendable private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.read)
        let app = try await context.app(self.store)
        let limit = Int(try request.number("limit", in: 1...1000, default: 100))
        let after = try request.number("after", in: 0...Int64.max, default: 0)
        let devices = try await self.store.devices(
            app: app.id,
            audience: try Self.audience(request),
            after: after,
            limit: limit
        )
        let next = devices.count == limit ? devices.last?.id : nil
        return try JSONAnswer.make(.ok, Page(devices: devices.map(Device.init), next: next))
    }

    @Sendable private func show(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.read)
        let app = try await context.app(self.store)
        let devices = try await self.store.devices(app: app.id, token: try Self.token(context))
        guard !devices.isEmpty else { throw Self.noSuchDevice }
        return try JSONAnswer.make(.ok, ["devices": devices.map(Device.init)])
    }

    @Sendable private func delete(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.register)
        let app = try await context.app(self.store)
        let deleted = try await self.store.deleteDevices(
            app: app.id,
            token: try Self.token(context),
            environment: try Self.environment(request),
            now: self.time.now
        )
        guard deleted > 0 else { throw Self.noSuchDevice }
        return Response(status: .noContent)
    }

    private static var noSuchDevice: APIRefusal {
        APIRefusal(status: 404, code: "no_such_device", message: "no device of this app has this token", field: "token")
    }

    private static func token(_ context: APIContext) throws -> DeviceToken {
        guard let token = context.parameters.get("token").flatMap({ DeviceToken(hex: $0) }) else {
            throw APIRefusal(
                status: 400,
                code: "invalid_token",
                message: "in a path a device token is hexadecimal",
                field: "token"
            )
        }
        return token
    }

    private static func environment(_ request: Request) throws -> PushEnvironment? {
        guard let text = request.uri.queryParameters["environment"] else { return nil }
        guard let environment = PushEnvironment(named: String(text)) else {
            throw APIRefusal(
                status: 400,
                code: "invalid_environment",
                message: "use sandbox or production",
                field: "environment"
            )
        }
        return environment
    }

    private static func audience(_ request: Request) throws -> AudienceExpression {
        let parameters = request.uri.queryParameters
        switch (parameters["user"], parameters["tag"]) {
        case (nil, nil): return .everyone
        case (let user?, nil): return .user(String(user))
        case (nil, let tag?): return .tag(String(tag))
        default:
            throw APIRefusal(
                status: 400,
                code: "conflicting_field",
                message: "filter by user or by tag, not by both",
                field: "tag"
            )
        }
    }
}
