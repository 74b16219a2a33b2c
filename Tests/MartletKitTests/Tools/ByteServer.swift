import Foundation

/// Serves bytes over plain HTTP on the loopback address: each connection gets the pieces of one response.
///
/// It is unchecked because a lock guards everything that changes.
final class ByteServer: @unchecked Sendable {
    enum Piece: Sendable {
        case bytes(Data)
        /// Says nothing more until the client goes away.
        case silence
    }

    private let lock = NSLock()
    private let listener: Int32
    private var seen: [String] = []
    let port: UInt16

    /// - Parameter respond: returns the response for the path of a request.
    init(respond: @escaping @Sendable (String) -> [Piece]) throws {
        #if canImport(Darwin)
        let stream = SOCK_STREAM
        #else
        let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        self.listener = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        self.port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { self.serve(respond) }
    }

    /// The paths of the requests up to now.
    var paths: [String] { self.lock.withLock { self.seen } }

    func url(_ path: String) -> String { "http://127.0.0.1:\(self.port)\(path)" }

    /// Ends the listening.
    ///
    /// The thread that listens closes the socket: its number could be that of another test's listener when that thread accepts
    /// again, and a connection of the other test would come here.
    func stop() {
        #if canImport(Darwin)
        // There only this ends a call of `accept`.
        close(self.listener)
        #else
        shutdown(self.listener, Int32(SHUT_RDWR))
        #endif
    }

    private func serve(_ respond: @escaping @Sendable (String) -> [Piece]) {
        #if !canImport(Darwin)
        defer { close(self.listener) }
        #endif
        while true {
            let connection = accept(self.listener, nil, nil)
            guard connection >= 0 else { return }
            Thread.detachNewThread {
                self.answer(connection, respond)
                close(connection)
            }
        }
    }

    private func answer(_ connection: Int32, _ respond: (String) -> [Piece]) {
        var request: [UInt8] = []
        while !request.suffix(4).elementsEqual([13, 10, 13, 10]) {
            var byte: UInt8 = 0
            guard read(connection, &byte, 1) == 1, request.count < 65536 else { return }
            request.append(byte)
        }
        let path =
            String(decoding: request, as: UTF8.self).split(separator: " ").dropFirst().first.map(String.init) ?? ""
        self.lock.withLock { self.seen.append(path) }
        for piece in respond(path) {
            switch piece {
            case .bytes(let data): guard self.send(data, connection) else { return }
            case .silence:
                var byte: UInt8 = 0
                while read(connection, &byte, 1) == 1 {}
            }
        }
    }

    private func send(_ data: Data, _ connection: Int32) -> Bool {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
            let flags: Int32 = 0
            #else
            let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { Foundation.send(connection, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
