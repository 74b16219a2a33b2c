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

/// The forms of files with devices.
enum DeviceFileFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One JSON object per line.
    case ndjson
    /// A first line with the names of the columns, then one device per line.
    case csv

    /// Returns the format of a file's extension; `nil` for an unknown one.
    init?(fileName: String) {
        switch URL(filePath: fileName).pathExtension.lowercased() {
        case "ndjson", "jsonl": self = .ndjson
        case "csv": self = .csv
        default: return nil
        }
    }

    /// The media type of the request.
    var contentType: String { self == .csv ? "text/csv" : "application/x-ndjson" }
}

/// The result of an import as text.
struct ImportReportText {
    private let response: JSONValue

    init(_ response: JSONValue) { self.response = response }

    /// The rejected lines, as far as the response has them.
    private var rejections: [JSONValue] { self.response["refusals"].elements }

    /// Indicates whether any line was rejected.
    var hasRejections: Bool { !self.rejections.isEmpty || (self.response["refused"].integerValue ?? 0) > 0 }

    /// The rejected lines as a table, then all counts.
    var text: String {
        guard case .object(let members) = self.response else { return "" }
        let sum = JSONValue.object(members.filter { $0.value.integerValue != nil }).plainText
        guard !self.rejections.isEmpty else { return sum }
        let columns: TextTable = ["line", "code", "field", "message"]
        return "\(columns.text(of: self.rejections))\n\n\(sum)"
    }
}

/// A file that is sent while it is read, with its progress on the terminal.
private struct FileUpload: Sendable {
    /// The size of a piece, in bytes.
    private static let chunk = 1 << 16

    /// The size in bytes; `nil` for a pipe.
    let size: Int64?
    /// The progress on the terminal.
    let status = StatusLine()
    private let file: FileHandle

    init(path: String) throws {
        self.file = try InputFile.open(path)
        self.size = InputFile.size(path)
    }

    /// The content of the file in pieces. It can be read once.
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
