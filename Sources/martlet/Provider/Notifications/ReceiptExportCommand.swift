import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore

/// `martlet notification export-receipts`: writes the receipts of a notification to a file.
struct ReceiptExportCommand: AsyncParsableCommand {
    static let configuration = command("export-receipts", "Write all receipts of a notification, one per line.")
        .example("notification export-receipts 9e1c… --output receipts.csv")

    @OptionGroup var resource: ResourceOptions<ProviderNotification>
    @Option(help: "ndjson or csv. Default: by the ending of --output, else ndjson.") var format: DeviceFileFormat?
    @Option(help: "The file; an existing one is not overwritten. Default: standard output.") var output: String?

    func run() async throws {
        let connection = try await self.resource.connection()
        let format = self.format ?? self.output.flatMap(DeviceFileFormat.init(fileName:)) ?? .ndjson
        let request = self.resource.request(.get, "receipts").action("export").query([("format", format.rawValue)])
        let body = try await connection.client.stream(connection.absolute(request))
        var file = FileHandle.standardOutput
        if let output {
            // Only its owner can read it, because it tells what people did.
            try OutputFile.write(Data(), to: output, isSecret: true)
            file = try FileHandle(forWritingTo: URL(filePath: output))
        }
        for try await bytes in body { try file.write(contentsOf: Data(bytes.readableBytesView)) }
        if self.output != nil { try file.close() }
    }
}
