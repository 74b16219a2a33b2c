import ArgumentParser
import Foundation
import PushSupport

struct DeviceImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Register the devices in a file, one line each; any number of them.",
        discussion: """
            The file is sent as it is read. At the end it is told how many devices are new, and which lines were \
            refused and why; all others are registered. The status is 0 if none was refused. Importing a file again \
            changes nothing.

            Example: martlet device import devices.ndjson --app com.example.MyApp
            """
    )

    @OptionGroup var access: AppAccess

    @Argument(help: "The file; '-' is standard input.")
    var file: String

    @Option(help: "ndjson or csv. Default: as the file's name ends.")
    var format: DeviceFileFormat?

    func run() async throws {
        guard let format = self.format ?? DeviceFileFormat(fileName: self.file) else {
            throw ValidationError("Say what the file holds: --format ndjson or csv.")
        }
        let (app, settings) = try await self.access.named()
        let call = try self.access.provider.call(settings)
        let upload = try FileUpload(path: self.file)
        let path = APIRequest(.post, ["apps", app, "devices"], action: "import").path
        let data: Data
        do {
            data = try await call.upload(
                upload.chunks,
                length: upload.size,
                contentType: format.contentType,
                to: path
            )
        } catch let refused as HTTPCall.Refused {
            throw ProviderAccess.explained(refused, call.baseURL)
        }
        upload.status.clear()
        let report = ImportText(try JSONValue(parsing: data))
        if self.access.json {
            StandardOutput.line(try report.answer.line)
        } else {
            StandardOutput.line(report.text)
        }
        if report.hasRefusals { throw ExitCode.failure }
    }
}

/// How files hold devices.
enum DeviceFileFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One JSON object per line.
    case ndjson
    /// With the names of the columns in the first line.
    case csv

    init?(fileName: String) {
        switch URL(filePath: fileName).pathExtension.lowercased() {
        case "ndjson", "jsonl": self = .ndjson
        case "csv": self = .csv
        default: return nil
        }
    }

    var contentType: String {
        switch self {
        case .ndjson: "application/x-ndjson"
        case .csv: "text/csv"
        }
    }
}

/// What an import came to.
struct ImportText {
    let answer: JSONValue

    init(_ answer: JSONValue) {
        self.answer = answer
    }

    private var refusals: [JSONValue] { self.answer["refusals"].elements }

    var hasRefusals: Bool { !self.refusals.isEmpty || (self.answer["refused"].integerValue ?? 0) > 0 }

    /// The refused lines as a table, then all counts.
    var text: String {
        var counts: [String] = []
        if case .object(let members) = self.answer {
            counts = members.sorted { $0.key < $1.key }.compactMap { name, value in
                value.integerValue.map { "\(name) \($0)" }
            }
        }
        let sum = counts.joined(separator: ", ")
        guard !self.refusals.isEmpty else { return sum }
        let columns: [TextTable.Column] = [
            .init("line", "line"), .init("code", "code"), .init("field", "field"), .init("message", "message"),
        ]
        return "\(TextTable(columns, self.refusals).text)\n\n\(sum)"
    }
}
