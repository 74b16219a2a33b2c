import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// Answers some of the API's requests.
protocol Controller: Sendable {
    var operations: [APIOperation] { get }
}

/// The REST API: all operations, and the document that describes them.
package struct API: Sendable {
    let controllers: [any Controller]
    let runner: OperationRunner
    let compatibility: CompatibilityRoutes
    let logger: Logger

    var operations: [APIOperation] {
        self.controllers.flatMap(\.operations) + [self.documentOperation]
    }

    var router: Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: ErrorMiddleware(logger: self.logger))
        let runner = self.runner
        for operation in self.operations {
            router.on(RouterPath(operation.path), method: operation.method) { request, context in
                await runner.run(operation, request, context)
            }
        }
        self.compatibility.addRoutes(to: router.group())
        router.refuseOtherMethods()
        return router
    }

    private var documentOperation: APIOperation {
        let description = ResponseDescription.ok(.object(isOpen: true), "OpenAPI 3.1.")
        var operation = APIOperation(
            method: .get,
            path: "/openapi.json",
            id: "document",
            summary: "This document.",
            tag: .operation,
            answers: [description]
        ) { _ in Response(status: .noContent) }
        let document = OpenAPIDocument(operations: self.controllers.flatMap(\.operations) + [operation]).json
        let text = (try? document.text) ?? Data()
        operation.handler = { _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: text))
            )
        }
        return operation
    }
}
