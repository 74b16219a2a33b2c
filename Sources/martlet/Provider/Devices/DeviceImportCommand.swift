import ArgumentParser
import Foundation
import NIOCore
import PushSupport
import PushTypes
import Synchronization

/// `martlet device import`: registers the devices in a file.
struct DeviceImportCommand: AsyncParsableCommand {
    static let configuration = command("import", "Register the devices in a file, one line each; any number of them.")
        .detail(
            """
            The file is sent as it is read. At the end the command prints how many devices are new, and which lines \
            were rejected and why; all others are registered.
            """
        )
        .detail("The status is 0 if none was rejected. Importing a file again changes nothing.")
        .detail("The formats aerogear, parse, onesignal and gorush are lists of devices of other servers.")
        .example("device import devices.ndjson --app com.example.MyApp")
        .example("device import export.csv --format onesignal --app com.example.MyApp")

    @OptionGroup var access: AppOptions
    @Argument(help: "The file; '-' is standard input.") var file: String
    @Option(help: "ndjson, csv, aerogear, parse, onesignal or gorush. Default: by the ending of the file's name.")
    var format: DeviceImportFormat?
    @Option(help: "The environment of another server's records that name none. Default: production.")
    var environment: PushEnvironment?

    func run() async throws {
        guard let format = self.format ?? DeviceImportFormat(fileName: self.file) else {
            throw ValidationError("Name the format of the file: --format ndjson, csv or another server's.")
        }
        let connection = try await self.access.connection()
        let upload = try FileUpload(path: self.file)
        let response = try await connection.client.upload(
            upload.chunks,
            length: upload.size,
            contentType: format.contentType(ofFile: self.file),
            to: connection.absolute(
                .post(RegisteredDevice.path).action("import")
                    .query([("from", format.list), ("environment", self.environment?.rawValue)])
            )
        )
        upload.status.clear()
        let report = ImportReportText(response)
        try self.access.print(response) { _ in report.text }
        if report.hasRejections { throw ExitCode.failure }
    }
}

/// The file formats for devices that Martlet defines.
enum DeviceFileFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// The format with one JSON object per line.
    case ndjson
    /// The format with a header line of column names, followed by one line per device.
    case csv

    /// Returns the format for a file name's extension, or `nil` for an unknown extension.
    init?(fileName: String) {
        switch URL(filePath: fileName).pathExtension.lowercased() {
        case "ndjson", "jsonl": self = .ndjson
        case "csv": self = .csv
        default: return nil
        }
    }

    var contentType: String { self == .csv ? "text/csv" : "application/x-ndjson" }
}

struct ImportReportText {
    private let response: JSONValue

    init(_ response: JSONValue) { self.response = response }

    /// The entries about rejected lines in the response, which may not list all rejected lines.
    private var rejections: [JSONValue] { self.response["refusals"].elements }

    var hasRejections: Bool { !self.rejections.isEmpty || (self.response["refused"].integerValue ?? 0) > 0 }

    /// The table of rejected lines, followed by all counts.
    var text: String {
        guard case .object(let members) = self.response else { return "" }
        let sum = JSONValue.object(members.filter { $0.value.integerValue != nil }).plainText
        guard !self.rejections.isEmpty else { return sum }
        let columns: TextTable = ["line", "code", "field", "message"]
        return "\(columns.text(of: self.rejections))\n\n\(sum)"
    }
}

/// A file that is uploaded while it is read, with its progress shown on the terminal.
private struct FileUpload: Sendable {
    private static let chunk = 1 << 16

    /// The size of the file in bytes, or `nil` for a pipe.
    let size: Int64?
    let status = StatusLine()
    private let file: FileHandle

    init(path: String) throws {
        self.file = try InputFile.open(path)
        self.size = InputFile.size(path)
    }

    /// The chunks of the file, which can be iterated only once.
    var chunks: AsyncThrowingStream<ByteBuffer, any Error> {
        let start = ContinuousClock.now
        let total = self.size.map { Int(clamping: $0) >> 10 }
        let sent = Mutex(0)
        return AsyncThrowingStream {
            guard let data = try self.file.read(upToCount: Self.chunk), !data.isEmpty else { return nil }
            let bytes = sent.withLock {
                $0 += data.count
                return $0
            }
            let rate = Double(bytes >> 10) / max(0.001, (.now - start) / .seconds(1))
            self.status.show(ProgressText.of(done: bytes >> 10, total: total, rate: rate) + " (KiB)")
            return ByteBuffer(bytes: data)
        }
    }
}

/// The file formats that can be imported: those that Martlet defines, and the exports of other push servers.
enum DeviceImportFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case ndjson, csv
    /// The file format of the importer of AeroGear UnifiedPush Server.
    case aerogear
    /// An export of Parse Server's installations.
    case parse
    /// An export of OneSignal's devices.
    case onesignal
    /// An export of the device table of a back end that sends through gorush.
    case gorush

    /// Returns the format of Martlet for a file name's extension, or `nil` for an unknown extension.
    init?(fileName: String) {
        switch DeviceFileFormat(fileName: fileName) {
        case .ndjson?: self = .ndjson
        case .csv?: self = .csv
        case nil: return nil
        }
    }

    /// The name of the other push server in the request, or `nil` for the formats that Martlet defines.
    var list: String? {
        switch self {
        case .ndjson, .csv: nil
        case .aerogear, .parse, .onesignal, .gorush: self.rawValue
        }
    }

    /// Returns the media type of the request body, determined by the file name's extension, or else by the format.
    func contentType(ofFile name: String) -> String {
        switch (self, DeviceFileFormat(fileName: name)) {
        case (.ndjson, _): DeviceFileFormat.ndjson.contentType
        case (.csv, _): DeviceFileFormat.csv.contentType
        case (_, let format?): format.contentType
        case (.aerogear, nil), (.parse, nil): "application/json"
        case (.gorush, nil) where URL(filePath: name).pathExtension.lowercased() == "json": "application/json"
        case (.onesignal, nil), (.gorush, nil): DeviceFileFormat.csv.contentType
        }
    }
}
