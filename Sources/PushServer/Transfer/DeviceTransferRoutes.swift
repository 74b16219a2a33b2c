import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// `POST /v1/apps/{app}/devices:import` and `GET /v1/apps/{app}/devices:export`: devices as files, read and written as
/// they pass.
struct DeviceTransferRoutes: Sendable {
    /// Longest file, in bytes: 4 GB, which is some 20 million devices.
    static let maximumFile = 4 * 1024 * 1024 * 1024

    let store: any PushStore
    let time: any TimeSource
    let logger: Logger
    var maximumFile = Self.maximumFile

    func addRoutes(to group: RouterGroup<APIContext>) {
        group.post("apps/:app/devices:import") { request, context in
            try context.require(.register)
            return try await self.importDevices(request, app: try await context.app(self.store))
        }
        group.get("apps/:app/devices:export") { request, context in
            try context.require(.read)
            return try await self.exportDevices(request, app: try await context.app(self.store))
        }
    }

    /// Answers 200 with an ``ImportAnswer`` when the end of the file was reached, however many lines were refused.
    func importDevices(_ request: Request, app: AppRecord) async throws -> Response {
        guard let format = request.headers[.contentType].flatMap({ TransferFormat(contentType: $0) }) else {
            throw APIRefusal(
                status: 415,
                code: "unsupported_content_type",
                message: "send application/x-ndjson or text/csv",
                field: "content-type"
            )
        }
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        let body = UploadBody(body: request.body, maximum: self.maximumFile, announced: announced)
        do {
            let report = try await DeviceImport(store: self.store, app: app.id, format: format, time: self.time)
                .run(body)
            return try JSONAnswer.make(.ok, ImportAnswer(report))
        } catch let stopped as ImportStopped {
            return try self.answer(to: stopped, app: app)
        }
    }

    /// Query: `format` is `ndjson` (default) or `csv`, `state` is `active` (default), `inactive` or `all`.
    func exportDevices(_ request: Request, app: AppRecord) async throws -> Response {
        let format = try Self.choice("format", TransferFormat.self, request) ?? .ndjson
        let state = try Self.choice("state", DeviceExport.State.self, request) ?? .active
        let name = "\(app.bundleID.name)-devices.\(format.rawValue)"
        return Response(
            status: .ok,
            headers: [
                .contentType: format.contentType, .contentDisposition: "attachment; filename=\"\(name)\"",
                .cacheControl: "no-store",
            ],
            body: .init(
                asyncSequence: DeviceExport(store: self.store, app: app.id, format: format, state: state)
            )
        )
    }

    /// What is registered stays, so every answer says how far it got.
    private func answer(to stopped: ImportStopped, app: AppRecord) throws -> Response {
        switch stopped.cause {
        case var refusal as APIRefusal:
            if stopped.progress.lines > 0 { refusal.message += "; \(stopped)" }
            return JSONAnswer.refusal(refusal, headers: [.connection: "close"])
        case StoreError.cannotWrite(let why):
            self.logger.error("the store cannot write", metadata: ["error": "\(why)"])
            let refusal = APIRefusal(status: 503, code: "storage_unavailable", message: "\(stopped)")
            return JSONAnswer.refusal(refusal, headers: [.connection: "close", .retryAfter: "5"])
        default:
            self.logger.warning(
                "an import stopped",
                metadata: ["app": "\(app.bundleID)", "error": "\(stopped.cause)", "at": "\(stopped)"]
            )
            let refusal = APIRefusal(status: 500, code: "import_stopped", message: "\(stopped)")
            return JSONAnswer.refusal(refusal, headers: [.connection: "close"])
        }
    }

    private static func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ type: Value.Type,
        _ request: Request
    ) throws -> Value? {
        guard let text = request.uri.queryParameters[name[...]] else { return nil }
        guard let value = Value(rawValue: String(text)) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIRefusal(status: 400, code: "invalid_value", message: "use one of \(known)", field: name)
        }
        return value
    }
}

/// What became of an import.
struct ImportAnswer: Encodable {
    /// Records read, without header and empty lines.
    var lines: Int
    var added: Int
    var refreshed: Int
    /// Installations whose token has changed.
    var replaced: Int
    var refused: Int
    /// The first of them, see ``TransferLimits/maximumRefusals``.
    var refusals: [ImportRefusal]

    init(_ report: ImportReport) {
        self.lines = report.progress.lines
        self.added = report.progress.added
        self.refreshed = report.progress.refreshed
        self.replaced = report.progress.replaced
        self.refused = report.progress.refused
        self.refusals = report.refusals
    }
}
