import ArgumentParser
import AsyncHTTPClient
import Benchmarking
import Foundation
import NIOCore
import NIOHTTP1

/// The files and numbers of a run.
struct LoadOptions: ParsableArguments {
    @Option(help: "The certificate of the chat server.") var certificate: String
    @Option(help: "Its key.") var certificateKey: String
    @Option(help: "The protocol: irc or xmpp.") var dialect: String
    @Option(help: "How many sessions or connections there are.") var count: Int
    @Option(help: "Seconds after which it is given up.") var patience = 900.0

    func server() throws -> ChatServer {
        guard let dialect = ChatServer.Dialect(rawValue: self.dialect) else {
            throw BenchmarkFailure("there is no protocol \(self.dialect)")
        }
        return try ChatServer(dialect, certificate: self.certificate, key: self.certificateKey)
    }

    /// Waits until something is so.
    func wait(_ name: String, _ isDone: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(self.patience)
        while !isDone() {
            guard ContinuousClock.now < end else { throw BenchmarkFailure("\(name): not within \(self.patience) s") }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

/// Measures the memory and the processor time of a provider for sessions at which nothing happens.
struct IdleSessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "idle")
    /// The sessions of a user: as many as the provider allows.
    private static let perUser = 10
    private static let app = "com.example.MyApp"
    /// The pause before each sample.
    private static let settling: Duration = .seconds(5)

    @OptionGroup var load: LoadOptions
    @Option(help: "Port of the API on localhost.") var port: Int
    @Option(help: "An admin API key.") var apiKey: String
    @Option(help: "Process id of the provider.") var pid: Int
    @Option(help: "Seconds of quiet whose processor time is measured.") var seconds = 240

    func run() async throws {
        let server = try self.load.server()
        let listener = try await server.listen()
        guard let port = listener.localAddress?.port else { throw BenchmarkFailure("the chat server has no port") }
        try await self.post("apps", #"{"bundleId":"\#(Self.app)"}"#)
        try await Task.sleep(for: Self.settling)
        let before = try ProcessStatistics(pid: self.pid)
        let start = ContinuousClock.now
        for number in 0..<self.load.count { try await self.addSession(number, port: port) }
        try await self.load.wait("all signed in") { server.current.signedIn >= self.load.count }
        let duration = (ContinuousClock.now - start) / .seconds(1)
        try await Task.sleep(for: Self.settling)
        let with = try ProcessStatistics(pid: self.pid)
        let keepAlives = server.current.keepAlives
        try await Task.sleep(for: .seconds(self.seconds))
        let quiet = try ProcessStatistics(pid: self.pid)
        let end = server.current
        guard end.connections == self.load.count else {
            throw BenchmarkFailure("\(self.load.count - end.connections) sessions were lost")
        }
        self.report(before, with, quiet, keepAlives: end.keepAlives - keepAlives, duration: duration)
        try await listener.close()
    }

    private func addSession(_ number: Int, port: Int) async throws {
        let account = self.load.dialect == "xmpp" ? "user@localhost" : "user\(number)"
        let settings = self.load.dialect == "xmpp" ? #"{"tls":"direct"}"# : "{}"
        try await self.post(
            "apps/\(Self.app)/sessions",
            """
            {"protocol":"\(self.load.dialect)","server":"127.0.0.1","port":\(port),"account":"\(account)",\
            "password":"a password","user":"user\(number / Self.perUser)","settings":\(settings)}
            """
        )
    }

    private func post(_ path: String, _ body: String) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(self.port)/v1/\(path)")
        request.method = .POST
        request.headers.add(name: "authorization", value: "Bearer \(self.apiKey)")
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let text = String(buffer: try await response.body.collect(upTo: 1024 * 1024))
        guard response.status.code < 300 else { throw BenchmarkFailure("\(path): \(response.status.code) \(text)") }
    }

    private func report(
        _ before: ProcessStatistics,
        _ with: ProcessStatistics,
        _ quiet: ProcessStatistics,
        keepAlives: Int,
        duration: Double
    ) {
        let (name, count) = ("sessions_\(self.load.dialect)", Double(self.load.count))
        let minutes = Double(self.seconds) / 60
        figure("\(name)_count", count, "sessions")
        figure("\(name)_resident", (with.residentKB - before.residentKB) / count, "kB/session")
        figure("\(name)_resident_later", (quiet.residentKB - before.residentKB) / count, "kB/session")
        figure("\(name)_anonymous", (with.anonymousKB - before.anonymousKB) / count, "kB/session")
        figure("\(name)_sign_in_rate", count / duration, "sessions/s")
        figure("\(name)_sign_in_cpu", (with.cpuSeconds - before.cpuSeconds) * 1e3 / count, "ms/session")
        figure("\(name)_idle_cpu", (quiet.cpuSeconds - with.cpuSeconds) * 1e3 / minutes, "ms/min of all")
        figure(
            "\(name)_idle_cpu_each",
            (quiet.cpuSeconds - with.cpuSeconds) * 1e6 / minutes / count,
            "us/min and session"
        )
        figure("\(name)_keep_alives", Double(keepAlives) / minutes / count, "per minute and session")
    }
}
