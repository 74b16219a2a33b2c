import Foundation

/// A push service for one test: a `martlet gateway` process on free ports, with an app and a signing key.
///
/// The gateway is a program, not a library, so it runs beside the test as it would run beside a provider in CI.
struct PushService: Sendable {
    static let teamID = "DEF123GHIJ"
    static let bundleID = "com.example.MyApp"

    /// The port for providers, on localhost.
    let http2Port: Int
    /// The port for devices, on localhost.
    let devicePort: Int
    /// The URL at which devices are activated.
    let adminURL: String
    /// The PEM text of the authority that signed the gateway's certificate.
    let authority: String
    /// The path of the key's `.p8` file.
    let keyFile: String

    /// Runs a gateway for the duration of `body`.
    ///
    /// - Parameter command: the path of the `martlet` command.
    static func with<Value: Sendable>(
        command: String,
        _ body: (PushService) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "push-service-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let gateway = Process()
        let log = Pipe()
        gateway.executableURL = URL(filePath: command)
        gateway.arguments = [
            "gateway", "--data-directory", folder, "--environment", "sandbox", "--port", "0", "--log-format", "json",
        ]
        gateway.standardError = log
        try gateway.run()
        defer {
            gateway.terminate()
            gateway.waitUntilExit()
            try? FileManager.default.removeItem(atPath: folder)
        }
        let adminURL = try await Self.adminURL(in: log.fileHandleForReading)
        let service = try Self.prepare(command: command, adminURL: adminURL, folder: folder)
        return try await body(service)
    }

    /// Reads the log until it has the address of the admin API, which is the last to open.
    ///
    /// The rest of the log is read and discarded, because a gateway whose pipe is full would wait.
    private static func adminURL(in log: FileHandle) async throws -> String {
        let parts = AsyncStream<String> { continuation in
            log.readabilityHandler = { log in
                let bytes = log.availableData
                if bytes.isEmpty {
                    log.readabilityHandler = nil
                    continuation.finish()
                }
                continuation.yield(String(decoding: bytes, as: UTF8.self))
            }
        }
        var text = ""
        for await part in parts {
            text += part
            if let match = text.firstMatch(of: /"admin":"([^"]+)"/) { return "http://\(match.1)" }
        }
        throw Failure("the gateway does not open:\n\(text)")
    }

    /// Creates the app and its key, and asks for the ports.
    private static func prepare(command: String, adminURL: String, folder: String) throws -> PushService {
        func martlet(_ arguments: String...) throws -> Data {
            try Self.output(of: command, ["gateway"] + arguments + ["--admin-url", adminURL, "--json"])
        }
        _ = try martlet("app", "add", Self.bundleID, "--team", Self.teamID)
        _ = try martlet("key", "add", "--team", Self.teamID, "--key-id", "ABC123DEFG", "--output", folder)
        let status = try JSONDecoder().decode(Status.self, from: try martlet("status"))
        guard let doors = status.environments.first?.doors, let http2 = Self.port(doors.http2),
            let courier = Self.port(doors.courier)
        else { throw Failure("the gateway has no ports") }
        return PushService(
            http2Port: http2,
            devicePort: courier,
            adminURL: adminURL,
            authority: try String(contentsOfFile: "\(folder)/authority.pem", encoding: .utf8),
            keyFile: "\(folder)/AuthKey_ABC123DEFG.p8"
        )
    }

    private static func output(of command: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: command)
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("martlet \(arguments.joined(separator: " ")) failed")
        }
        return data
    }

    private static func port(_ address: String) -> Int? {
        address.split(separator: ":").last.flatMap { Int($0) }
    }

    private struct Status: Decodable {
        struct Environment: Decodable { var doors: Doors }
        struct Doors: Decodable {
            var http2: String
            var courier: String
        }

        var environments: [Environment]
    }

    /// An error of the stand-in, for people.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
