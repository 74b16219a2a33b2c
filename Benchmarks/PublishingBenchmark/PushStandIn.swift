import ArgumentParser
import Benchmarking
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL

/// The options of the push service.
struct PushStandInOptions: ParsableArguments {
    @Option(help: "Port of the push service that this is.") var pushPort: Int
    @Option(help: "PEM file with the certificate of the push service.") var certificate: String
    @Option(help: "PEM file with its key.") var certificateKey: String
}

/// A push service that hands each push to its reader at once, in place of a gateway with as many connections.
struct PushStandIn: Sendable {
    let options: PushStandInOptions
    let readers: BenchmarkReaders

    /// Serves until its task is cancelled.
    func run() async throws {
        let router = Router()
        let readers = self.readers
        router.post("3/device/:token") { request, context -> Response in
            let token = try context.parameters.require("token")
            let payload = try await request.body.collect(upTo: 5120)
            let isKnown = readers.receive(Data(payload.readableBytesView), token: token)
            return Response(status: isKnown ? .ok : .gone)
        }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(self.options.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: self.options.certificateKey, format: .pem))
        )
        tls.applicationProtocols = ["h2"]
        var logger = Logger(label: "push service")
        logger.logLevel = .error
        let application = Application(
            router: router,
            server: try .http2Upgrade(tlsConfiguration: tls),
            configuration: .init(address: .hostname("localhost", port: self.options.pushPort)),
            logger: logger
        )
        try await application.run()
    }
}
