import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `POST /v1/apps/{app}/devices:import` and `GET /v1/apps/{app}/devices:export`: devices as files, read and written as
/// they pass.
struct DeviceTransferController: Controller {
    let store: any ProviderStore
    let time: any TimeSource
    let logger: Logger
    /// Longest file of an import, in bytes.
    let maximumFile: Int

    var operations: [APIOperation] {
        [
            APIOperation(
                method: .post,
                path: "/v1/apps/{app}/devices:import",
                id: "importDevices",
                summary: "Registers the devices of a file; lines that cannot be used are reported, the others count.",
                tag: .devices,
                scope: .register,
                body: BodyDescription(
                    schema: .string(),
                    maximum: self.maximumFile,
                    contentTypes: TransferFormat.allCases.map(\.contentType),
                    isStream: true
                ),
                answers: [.ok(ImportResponse.schema, "What became of the lines.")],
                refusals: [415],
                handler: { call in try await self.importDevices(call.request, app: try await call.app(self.store)) }
            ),
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/devices:export",
                id: "exportDevices",
                summary: "All devices as a file that can be imported again.",
                tag: .devices,
                scope: .read,
                parameters: [
                    ParameterDescription(
                        name: "format",
                        summary: "Default ndjson.",
                        schema: .choice(TransferFormat.allCases.map(\.rawValue))
                    ),
                    ParameterDescription(
                        name: "state",
                        summary: "Default active.",
                        schema: .choice(DeviceExport.State.allCases.map(\.rawValue))
                    ),
                ],
                answers: [
                    ResponseDescription(
                        status: 200,
                        summary: "A device per line.",
                        schema: .string(),
                        contentType: TransferFormat.ndjson.contentType,
                        otherTypes: [TransferFormat.csv.contentType]
                    )
                ],
                handler: { call in try self.exportDevices(call, app: try await call.app(self.store)) }
            ),
        ]
    }

    /// Answers 200 with an ``ImportResponse`` when the end of the file was reached, however many lines were refused.
    func importDevices(_ request: Request, app: AppRecord) async throws -> Response {
        guard let format = request.headers[.contentType].flatMap({ TransferFormat(contentType: $0) }) else {
            throw RequestError(
                .unsupportedType,
                code: "unsupported_content_type",
                message: "send application/x-ndjson or text/csv",
                path: "content-type"
            )
        }
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        let body = UploadBody(body: request.body, maximum: self.maximumFile, announced: announced)
        do {
            let report = try await DeviceImport(store: self.store, app: app.id, format: format, time: self.time)
                .run(body)
            return try JSONResponse.make(.ok, ImportResponse(report))
        } catch let stopped as ImportInterruption {
            return try self.answer(to: stopped, app: app)
        }
    }

    /// Query: `format` is `ndjson` (default) or `csv`, `state` is `active` (default), `inactive` or `all`.
    func exportDevices(_ call: OperationRequest, app: AppRecord) throws -> Response {
        let format = try call.choice("format", TransferFormat.self) ?? .ndjson
        let state = try call.choice("state", DeviceExport.State.self) ?? .active
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
    private func answer(to stopped: ImportInterruption, app: AppRecord) throws -> Response {
        switch stopped.cause {
        case var refusal as RequestError:
            if stopped.progress.lines > 0 { refusal.message += "; \(stopped)" }
            return JSONResponse.refusal(refusal, headers: [.connection: "close"])
        case StoreError.cannotWrite(let why):
            self.logger.error("the store cannot write", metadata: ["error": "\(why)"])
            let refusal = RequestError(.unavailable, code: "storage_unavailable", message: "\(stopped)")
            return JSONResponse.refusal(refusal, headers: [.connection: "close", .retryAfter: "5"])
        default:
            self.logger.warning(
                "an import stopped",
                metadata: ["app": "\(app.bundleID)", "error": "\(stopped.cause)", "at": "\(stopped)"]
            )
            let refusal = RequestError(.internalError, code: "import_stopped", message: "\(stopped)")
            return JSONResponse.refusal(refusal, headers: [.connection: "close"])
        }
    }
}

/// What became of an import.
struct ImportResponse: Encodable {
    static let schema = Schema.object(required: [
        "lines": .integer(), "added": .integer(), "refreshed": .integer(), "replaced": .integer(),
        "refused": .integer(),
        "refusals": .array(
            of: .object(
                required: ["line": .integer(), "code": .string(), "message": .string()],
                optional: ["field": .string()]
            )
        ),
    ]).named("ImportReport")

    /// Records read, without header and empty lines.
    var lines: Int
    var added: Int
    var refreshed: Int
    /// Installations whose token has changed.
    var replaced: Int
    var refused: Int
    /// The first of them, see ``TransferLimits/maximumRefusals``.
    var refusals: [ImportError]

    init(_ report: ImportReport) {
        self.lines = report.progress.lines
        self.added = report.progress.added
        self.refreshed = report.progress.refreshed
        self.replaced = report.progress.replaced
        self.refused = report.progress.refused
        self.refusals = report.refusals
    }
}
