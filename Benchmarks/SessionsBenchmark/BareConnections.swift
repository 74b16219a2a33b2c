import ArgumentParser
import Benchmarking
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Measures the memory of this process for as many TLS connections without a session: what swift-nio and TLS cost alone. The
/// chat server is another process of the same program.
struct BareConnections: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "bare")

    @OptionGroup var load: LoadOptions
    @Option(help: "Port of the chat server; without it this process is the server, and prints its port.") var port: Int?

    func run() async throws {
        guard let port else {
            let listener = try await self.load.server().listen()
            FileHandle.standardOutput.write(Data("port \(listener.localAddress?.port ?? 0)\n".utf8))
            return try await listener.closeFuture.get()
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(self.load.certificate))]
        let tls = try NIOSSLContext(configuration: configuration)
        let before = try ProcessStatistics.own()
        var channels: [any Channel] = []
        for _ in 0..<self.load.count {
            let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: "localhost")
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                }
            channels.append(try await bootstrap.connect(host: "127.0.0.1", port: port).get())
            // The response of the server shows that TLS is there.
            try await channels[channels.count - 1].writeAndFlush(ByteBuffer(string: "CAP LS 302\r\n"))
        }
        try await Task.sleep(for: .seconds(5))
        let with = try ProcessStatistics.own()
        let count = Double(self.load.count)
        figure("sessions_bare_resident", (with.residentKB - before.residentKB) / count, "kB/connection")
        figure("sessions_bare_anonymous", (with.anonymousKB - before.anonymousKB) / count, "kB/connection")
        for channel in channels { channel.close(promise: nil) }
    }
}
