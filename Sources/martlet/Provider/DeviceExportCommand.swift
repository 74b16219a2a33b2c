import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore

struct DeviceExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the devices of an app, in the form that import takes.",
        discussion: "Example: martlet device export --app com.example.MyApp --output devices.ndjson"
    )

    @OptionGroup var access: AppAccess

    @Option(help: "ndjson or csv. Default: as the name of --output ends, else ndjson.")
    var format: DeviceFileFormat?

    @Option(help: "active, inactive or all. Default: active.")
    var state: String?

    @Option(help: "The file; one that is there stays. Default: standard output.")
    var output: String?

    func run() async throws {
        let (app, settings) = try await self.access.named()
        let call = try self.access.provider.call(settings)
        let format = self.format ?? self.output.flatMap(DeviceFileFormat.init(fileName:)) ?? .ndjson
        let request = APIRequest(
            .get,
            ["apps", app, "devices"],
            action: "export",
            query: [("format", format.rawValue), ("state", self.state)]
        )
        let sink: FileHandle
        do {
            let body = try await call.stream(request.path)
            sink = try self.sink()
            let status = StatusLine()
            var size = 0
            for try await bytes in body {
                size += bytes.readableBytes
                try sink.write(contentsOf: Data(bytes.readableBytesView))
                if self.output != nil { status.show("\(size >> 10) KiB") }
            }
            status.clear()
            if self.output != nil { try sink.close() }
        } catch let refused as HTTPCall.Refused {
            throw ProviderAccess.explained(refused, call.baseURL)
        }
    }

    /// Tokens are written where only the owner can read them.
    private func sink() throws -> FileHandle {
        guard let output else { return .standardOutput }
        try OutputFile.write(Data(), to: output, isSecret: true)
        return try FileHandle(forWritingTo: URL(filePath: output))
    }
}
