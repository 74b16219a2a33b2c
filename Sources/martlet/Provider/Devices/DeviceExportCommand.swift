import ArgumentParser
import Foundation
import NIOCore
import PushProvider
import PushSupport

/// `martlet device export`: writes the devices of an app to a file.
struct DeviceExportCommand: AsyncParsableCommand {
    static let configuration = command("export", "Write the devices of an app, in the form that import takes.")
        .example("device export --app com.example.MyApp --output devices.ndjson")

    @OptionGroup var access: AppOptions
    @Option(help: "ndjson or csv. Default: by the ending of --output, else ndjson.") var format: DeviceFileFormat?
    @Option(help: "\(Schema.choice(of: ExportedDevices.self).words). Default: active.") var state: String?
    @Option(help: "The file; an existing one is not overwritten. Default: standard output.") var output: String?

    func run() async throws {
        let connection = try await self.access.connection()
        let format = self.format ?? self.output.flatMap(DeviceFileFormat.init(fileName:)) ?? .ndjson
        let request = APIRequest.get(RegisteredDevice.path).action("export")
            .query([("format", format.rawValue), ("state", self.state)])
        let body = try await connection.client.stream(connection.absolute(request))
        let file = try self.openOutput()
        let status = StatusLine()
        var size = 0
        for try await bytes in body {
            size += bytes.readableBytes
            try file.write(contentsOf: Data(bytes.readableBytesView))
            if self.output != nil { status.show("\(size >> 10) KiB") }
        }
        status.clear()
        if self.output != nil { try file.close() }
    }

    /// Creates and opens the file, which only its owner can read because it contains device tokens. Without a file,
    /// returns standard output.
    /// - Throws: ``SettingsError`` if the file exists or cannot be written.
    private func openOutput() throws -> FileHandle {
        guard let output else { return .standardOutput }
        try OutputFile.write(Data(), to: output, isSecret: true)
        return try FileHandle(forWritingTo: URL(filePath: output))
    }
}
