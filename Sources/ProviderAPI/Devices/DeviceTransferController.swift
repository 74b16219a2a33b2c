import Hummingbird
import Logging
import ProviderModel
package import PushHTTP
package import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations `devices:import` and `devices:export` of `/v1/apps/{app}`, which stream devices from and to files.
struct DeviceTransferController: Controller {
    let store: any AppStore & DeviceStore
    let registrar: DeviceRegistrar
    let time: any TimeSource
    let logger: Logger
    /// The maximum length of a file to import, in bytes. The import of a longer file stops there with an error, but the
    /// devices up to there stay registered.
    let maximumFile: Int

    var operations: [ProviderOperation] {
        let types = TransferFormat.allCases.map(\.contentType)
        let list = Schema.choice(ForeignDeviceList.allCases.map(\.rawValue))
        let stream = StreamedBody(minimumBytes: 16 * 1024)
        let file = BodyDescription(
            .string(),
            maximum: self.maximumFile,
            contentTypes: types + ["application/json"],
            stream: stream
        )
        return [
            .init(.post, "/v1/apps/{app}/devices:import", .unaudited, id: "importDevices", self.importDevices)
                .summary("Registers the devices of a file; invalid lines are reported, the others are registered.")
                .tag(.devices).scope(.register).body(file)
                .parameters(
                    .query("from", "The server whose list it is. Default: records in our own form.", list),
                    .query(
                        "environment",
                        "Of another server's records that name none. Default production.",
                        .environment
                    )
                )
                .responses(.ok(ImportResponse.schema, "The results of the lines.")).errors(.unsupportedType),
            .init(.get, "/v1/apps/{app}/devices:export", id: "exportDevices", self.exportDevices)
                .summary("All devices as a file that can be imported again.")
                .tag(.devices).scope(.read)
                .parameters(.query("format", "Default ndjson.", .choice(of: TransferFormat.self)))
                .parameters(.query("state", "Default active.", .choice(of: ExportedDevices.self)))
                .responses(ResponseDescription(status: 200, "A device per line.", .string(), contentTypes: types)),
        ]
    }

    /// Imports a file of devices. The response is 200 and lists invalid lines, even if no line is valid.
    private func importDevices(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let headers = request.http.headers
        let list = try request.choice("from", ForeignDeviceList.self)
        guard let source = headers[.contentType].flatMap({ ImportSource(contentType: $0, list: list) }) else {
            let json = list == nil ? "" : ", application/json"
            throw RequestError.unsupportedContentType("application/x-ndjson\(json) or text/csv")
        }
        let environment = try request.environment() ?? .production
        let announced = headers[.contentLength].flatMap { Int($0) }
        let body = UploadBody(request.http.body, maximum: self.maximumFile, announced: announced)
        do {
            let report = try await DeviceImport(
                registrar: self.registrar,
                app: app.id,
                source: source,
                defaults: ImportDefaults(bundleID: app.bundleID, environment: environment),
                time: self.time
            ).run(body)
            return try .json(ImportResponse(report: report))
        } catch let interruption as ImportInterruption {
            return self.response(to: interruption, app: app)
        }
    }

    /// Responds with the devices of an app while they are read from the store, so that little memory is needed.
    private func exportDevices(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let format = try request.choice("format", TransferFormat.self) ?? .ndjson
        let state = try request.choice("state", ExportedDevices.self) ?? .active
        let name = "\(app.bundleID.name)-devices.\(format.rawValue)"
        let headers: HTTPFields = [
            .contentType: format.contentType, .contentDisposition: "attachment; filename=\"\(name)\"",
            .cacheControl: "no-store",
        ]
        let export = DeviceExport(store: self.store, app: app.id, format: format, state: state)
        return Response(status: .ok, headers: headers, body: .init(asyncSequence: export))
    }

    /// Returns the response to an interrupted import, after which the connection is closed. It names the last line that
    /// was read, because the registrations up to that line remain.
    private func response(to interruption: ImportInterruption, app: AppRecord) -> Response {
        var headers: HTTPFields = [.connection: "close"]
        var error: RequestError
        switch interruption.cause {
        case let cause as RequestError:
            error = cause
            if interruption.progress.lines > 0 { error.message += "; \(interruption)" }
        case StoreError.cannotWrite(let why), StoreError.unavailable(let why):
            self.logger.error("store cannot write", metadata: ["error": "\(why)"])
            headers[.retryAfter] = "5"
            let message = "nothing can be stored now (\(why)): \(interruption)"
            error = RequestError(.unavailable, code: "storage_unavailable", message: message)
        case StoreError.ownerRemoved:
            error = RequestError(.notFound, code: "removed_meanwhile", message: "the app was removed: \(interruption)")
        default:
            self.logger.warning(
                "import interrupted",
                metadata: ["app": "\(app.bundleID)", "error": "\(interruption.cause)", "at": "\(interruption)"]
            )
            error = RequestError(.internalError, code: "import_stopped", message: "\(interruption)")
        }
        return .error(error, headers: headers)
    }
}

/// The response body for an import: the numbers of added, refreshed and refused devices, and the invalid lines.
struct ImportResponse: ResponseObject {
    let report: ImportReport

    static let schemaName: String? = "ImportReport"
    static let members: [ResponseMember<Self>] = [
        .required("lines", \.report.progress.lines, "The records that were read, without the header and empty lines."),
        .required("added", \.report.progress.added),
        .required("refreshed", \.report.progress.refreshed),
        .required("replaced", \.report.progress.replaced, "The installations with a changed token."),
        .required("refused", \.report.progress.refused),
        .required(
            "underWay",
            \.report.progress.underWay,
            """
            The pushes that changes of preferences and users, and removals of the oldest Live Activities, came too late \
            for.
            """
        ),
        .required("refusals", \.report.refusals, "The first errors."),
    ]
}

/// The response object for the error of one imported line.
extension ImportError: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("line", \.line),
        .required("code", \.code),
        .required("message", \.message),
        .optional("field", \.field),
    ]
}
