import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `devices:import` and `devices:export` of `/v1/apps/{app}`: devices as files, read and written as streams.
struct DeviceTransferController: Controller {
    let store: any ProviderStore
    let time: any TimeSource
    let logger: Logger
    /// The longest file of an import, in bytes.
    let maximumFile: Int

    var operations: [ProviderOperation] {
        [
            .init(
                .post,
                "/v1/apps/{app}/devices:import",
                .unaudited,
                id: "importDevices",
                "Registers the devices of a file; invalid lines are reported, the others are registered.",
                self.importDevices
            )
            .tag(.devices).scope(.register)
            .body(
                BodyDescription(
                    .string(),
                    maximum: self.maximumFile,
                    contentTypes: TransferFormat.allCases.map(\.contentType),
                    stream: StreamedBody(minimumBytes: 16 * 1024)
                )
            )
            .responses(.ok(ImportResponse.schema, "The results of the lines.")).errors(.unsupportedType),
            .init(
                .get,
                "/v1/apps/{app}/devices:export",
                id: "exportDevices",
                "All devices as a file that can be imported again.",
                self.exportDevices
            )
            .tag(.devices).scope(.read)
            .parameters(
                .query("format", "Default ndjson.", .choice(of: TransferFormat.self)),
                .query("state", "Default active.", .choice(of: DeviceExport.State.self))
            )
            .responses(
                ResponseDescription(
                    status: 200,
                    "A device per line.",
                    .string(),
                    contentTypes: [TransferFormat.ndjson.contentType, TransferFormat.csv.contentType]
                )
            ),
        ]
    }

    /// Responds with 200 and an ``ImportResponse`` at the end of the file, however many lines were invalid.
    private func importDevices(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let headers = request.http.headers
        guard let format = headers[.contentType].flatMap({ TransferFormat(contentType: $0) }) else {
            throw RequestError.unsupportedContentType("application/x-ndjson or text/csv")
        }
        let announced = headers[.contentLength].flatMap { Int($0) }
        let body = UploadBody(body: request.http.body, maximum: self.maximumFile, announced: announced)
        do {
            let report = try await DeviceImport(store: self.store, app: app.id, format: format, time: self.time)
                .run(body)
            return try .json(ImportResponse(report))
        } catch let interruption as ImportInterruption {
            return self.response(to: interruption, app: app)
        }
    }

    private func exportDevices(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let format = try request.choice("format", TransferFormat.self) ?? .ndjson
        let state = try request.choice("state", DeviceExport.State.self) ?? .active
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

    /// Returns the response to an import that was interrupted. Registered lines stay, so it names the last one.
    private func response(to interruption: ImportInterruption, app: AppRecord) -> Response {
        var headers: HTTPFields = [.connection: "close"]
        switch interruption.cause {
        case var error as RequestError:
            if interruption.progress.lines > 0 { error.message += "; \(interruption)" }
            return .error(error, headers: headers)
        case StoreError.cannotWrite(let why):
            self.logger.error("store cannot write", metadata: ["error": "\(why)"])
            headers[.retryAfter] = "5"
            let error = RequestError(.unavailable, code: "storage_unavailable", message: "\(interruption)")
            return .error(error, headers: headers)
        default:
            self.logger.warning(
                "import interrupted",
                metadata: ["app": "\(app.bundleID)", "error": "\(interruption.cause)", "at": "\(interruption)"]
            )
            let error = RequestError(.internalError, code: "import_stopped", message: "\(interruption)")
            return .error(error, headers: headers)
        }
    }
}

/// The result of an import.
struct ImportResponse: Encodable {
    /// The records that were read, without the header and empty lines.
    var lines: Int
    var added: Int
    var refreshed: Int
    /// The installations with a changed token.
    var replaced: Int
    var refused: Int
    /// The first errors, see ``TransferLimits/maximumRefusals``.
    var refusals: [ImportError]

    init(_ report: ImportReport) {
        self.lines = report.progress.lines
        self.added = report.progress.added
        self.refreshed = report.progress.refreshed
        self.replaced = report.progress.replaced
        self.refused = report.progress.refused
        self.refusals = report.refusals
    }

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
}
