import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/apps`.
struct AppsController: Controller {
    let store: any ProviderStore
    let time: any TimeSource

    private static let name = Schema.string(length: 1...200)
    private static let rate = Schema.integer(1...PaceSettings.maximumRate)
        .described("Pushes per second of all campaigns together; null is as fast as possible.")

    var operations: [APIOperation] {
        [
            APIOperation(
                method: .get,
                path: "/v1/apps",
                id: "listApps",
                summary: "All apps.",
                tag: .apps,
                scope: .read,
                answers: [.ok(.list("apps", of: AppResponse.schema))],
                handler: self.list
            ),
            APIOperation(
                method: .post,
                path: "/v1/apps",
                id: "addApp",
                summary: "Adds an app.",
                tag: .apps,
                scope: .admin,
                body: BodyDescription(
                    schema: .object(
                        required: ["bundleId": .string(length: 1...255, pattern: "^[A-Za-z0-9._-]+$")],
                        optional: ["name": Self.name, "rate": Self.rate]
                    ).example(.texts(["bundleId": "com.example.MyApp"]))
                ),
                answers: [.created(AppResponse.schema), .ok(AppResponse.schema, "It was there already.")],
                isAudited: true,
                handler: self.add
            ),
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}",
                id: "showApp",
                summary: "One app.",
                tag: .apps,
                scope: .read,
                answers: [.ok(AppResponse.schema)],
                handler: self.show
            ),
            APIOperation(
                method: .patch,
                path: "/v1/apps/{app}",
                id: "changeApp",
                summary: "Changes an app's name or rate.",
                tag: .apps,
                scope: .admin,
                body: BodyDescription(schema: .object(optional: ["name": Self.name.orNull, "rate": Self.rate.orNull])),
                answers: [.ok(AppResponse.schema)],
                isAudited: true,
                handler: self.change
            ),
        ]
    }

    private func add(_ call: OperationRequest) async throws -> Response {
        let fields = try await call.fields(["bundleId", "name", "rate"])
        guard let bundleID = Topic(try fields.requiredString("bundleId", maximum: Topic.maximumLength)) else {
            throw fields.refusal("bundleId", "invalid_bundle_id", "use letters, digits, dots, hyphens or underscores")
        }
        let name = try fields.string("name", maximum: 200)
        let rate = try fields.integer("rate", in: 1...PaceSettings.maximumRate)
        var (app, isNew) = try await self.store.addApp(bundleID: bundleID, name: name, now: self.time.now)
        if isNew, let rate {
            try await self.store.setRate(Int(rate), app: app.id)
            app.rate = Int(rate)
        }
        return try JSONResponse.make(isNew ? .created : .ok, try await self.answer(app))
    }

    private func list(_ call: OperationRequest) async throws -> Response {
        var apps: [AppResponse] = []
        for app in try await self.store.apps() { apps.append(try await self.answer(app)) }
        return try JSONResponse.make(.ok, ["apps": apps])
    }

    private func show(_ call: OperationRequest) async throws -> Response {
        try JSONResponse.make(.ok, try await self.answer(try await call.app(self.store)))
    }

    private func change(_ call: OperationRequest) async throws -> Response {
        var app = try await call.app(self.store)
        let fields = try await call.fields(["name", "rate"])
        let name = try fields.string("name", maximum: 200)
        let rate = try fields.integer("rate", in: 1...PaceSettings.maximumRate).map(Int.init)
        if name != nil || fields.nulls.contains("name") {
            try await self.store.setName(name, app: app.id)
            app.name = name
        }
        if rate != nil || fields.nulls.contains("rate") {
            try await self.store.setRate(rate, app: app.id)
            app.rate = rate
        }
        return try JSONResponse.make(.ok, try await self.answer(app))
    }

    private func answer(_ app: AppRecord) async throws -> AppResponse {
        AppResponse(app, environments: try await self.store.environments(app: app.id))
    }
}
