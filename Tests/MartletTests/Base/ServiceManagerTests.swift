import Foundation
import Testing

@testable import martlet

#if os(Linux)
@Suite struct ServiceManagerTests {
    @Test func withoutItsSocketThereIsNone() {
        #expect(ServiceManager(environment: [:]) == nil)
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": ""]) == nil)
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": "vsock:2:1234"]) == nil)
    }

    @Test(arguments: ["/", "@"]) func statesAreDatagramsToItsSocket(kind: String) throws {
        let name = "martlet-test-\(UUID().uuidString)"
        let path = kind == "@" ? "@\(name)" : FileManager.default.temporaryDirectory.path + "/" + name
        let socket = try ReceivingSocket(path: path)
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": path]))
        try manager.report(.ready)
        try manager.report(.stopping)
        #expect(socket.received() == "READY=1")
        #expect(socket.received() == "STOPPING=1")
    }

    @Test func aSocketThatTakesNothingIsAnError() throws {
        let missing = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/nowhere/notify"]))
        #expect(throws: POSIXError.self) { try missing.report(.ready) }
        let long = String(repeating: "a", count: 200)
        let tooLong = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/\(long)"]))
        #expect(throws: POSIXError(.ENAMETOOLONG)) { try tooLong.report(.ready) }
    }
}

/// The service manager's end of the socket.
private final class ReceivingSocket {
    private let descriptor: Int32
    private let path: String

    init(path: String) throws {
        self.path = path
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        if path.hasPrefix("@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(self.descriptor, $0, length) }
        }
        try #require(self.descriptor >= 0 && bound == 0)
    }

    deinit {
        close(self.descriptor)
        if !self.path.hasPrefix("@") { unlink(self.path) }
    }

    /// Returns the next datagram; it is in the socket's buffer already.
    func received() -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = recv(self.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
#endif
