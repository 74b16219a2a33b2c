import Foundation
import PushGateway
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct GatewayTests {
    @Test func aSecondGatewayInTheSameFolderIsRejected() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { _ in
                await #expect(throws: GatewayError.dataDirectoryInUse(directory)) {
                    try await withGateway(in: directory) { _ in }
                }
            }
        }
    }

    @Test(arguments: ["sandbox HTTP/2", "sandbox courier", "admin"])
    func aPortThatIsTakenIsNamed(listener: String) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: "\(directory)/1") { first in
                do {
                    let taken = first.addresses.admin
                    try await withGateway(in: "\(directory)/2", configure: { Self.set(taken, listener: listener, &$0) })
                    { _ in
                    }
                    Issue.record("it started on a port that is taken")
                } catch GatewayError.cannotListen(let named, let address, _) {
                    #expect(named == listener)
                    #expect(address == "127.0.0.1:\(first.addresses.admin)")
                }
            }
        }
    }

    @Test func theAdminListenerStaysOnThisMachine() async throws {
        try await withTemporaryDirectory { directory in
            await #expect(throws: GatewayError.adminNotLoopback("0.0.0.0")) {
                try await withGateway(in: directory, configure: { $0.admin.host = "0.0.0.0" }) { _ in }
            }
        }
    }

    @Test(arguments: [
        "authority.key", "authority.pem", "device-authority.key", "server.key", "token.key", "gateway.sqlite",
    ])
    func aDamagedFileIsNamed(file: String) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { _ in }
            // The write-ahead log would repair the database.
            for log in ["gateway.sqlite-wal", "gateway.sqlite-shm"] {
                try? FileManager.default.removeItem(atPath: "\(directory)/\(log)")
            }
            try Data("this is not what was written here, and not a database either".utf8)
                .write(to: URL(filePath: "\(directory)/\(file)"))
            do {
                try await withGateway(in: directory) { _ in }
                Issue.record("it started with a damaged \(file)")
            } catch GatewayError.badFile(let path, _) {
                #expect(path == "\(directory)/\(file)")
            }
        }
    }

    @Test func privateFilesAreForTheOwnerOnly() async throws {
        try await withTemporaryDirectory { directory in
            let data = "\(directory)/data"
            try await withGateway(in: data) { _ in }
            #expect(try Self.permissions(data) == 0o700)
            for file in ["authority.key", "device-authority.key", "server.key", "token.key"] {
                #expect(try Self.permissions("\(data)/\(file)") == 0o600)
            }
        }
    }

    private static func set(_ port: Int, listener: String, _ configuration: inout GatewayConfiguration) {
        switch listener {
        case "sandbox HTTP/2": configuration.listeners[.sandbox]?.http2.port = port
        case "sandbox courier": configuration.listeners[.sandbox]?.deviceLink.port = port
        default: configuration.admin.port = port
        }
    }

    private static func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
}
