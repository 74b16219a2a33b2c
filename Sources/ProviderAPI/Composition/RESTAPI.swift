import Hummingbird
import Logging
import NIOCore
import ProviderModel
import PushHTTP
import PushSupport
import Synchronization

/// The REST API: all operations, and the OpenAPI document that describes them.
struct RESTAPI: Sendable {
    let controllers: [any Controller<APIScope>]
    let runner: OperationRunner
    let compatibility: CompatibilityRoutes
    let logger: Logger

    /// Creates the router for all operations, the forms of older systems, the pages, and the routes of the extension.
    func router(with pages: (any ProviderPages)?, _ addition: (any ProviderExtension)?) -> Router<APIContext> {
        let router = self.operationRouter
        self.compatibility.addRoutes(to: router.group())
        addition?.addRoutes(to: router)
        pages?.addRoutes(to: router)
        router.addMethodNotAllowedResponses()
        return router
    }

    /// The responder to requests that pages make within the process. It serves the operations of the API only.
    var responder: some HTTPResponder<APIContext> { self.operationRouter.buildResponder() }

    private var operationRouter: Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: ErrorMiddleware(logger: self.logger))
        let (runner, operations) = (self.runner, self.controllers.flatMap { $0.operations })
        router.add(operations + [self.documentOperation(of: operations)]) { operation, request, context in
            await runner.run(operation, request, context)
        }
        return router
    }

    /// Returns the operation that responds with the OpenAPI document of `others` and of this operation itself.
    private func documentOperation(of others: [ProviderOperation]) -> ProviderOperation {
        @Sendable func operation(_ handler: @escaping ProviderOperation.Handler) -> ProviderOperation {
            .init(.get, "/openapi.json", id: "document", "This document.", handler)
                .tag(.operation).responses(.ok(.object(isOpen: true), "OpenAPI 3.1.")).streamed()
        }
        // The document is created at the first request, because creating it takes longer than the rest of the start.
        let text = Mutex<ByteBuffer?>(nil)
        return operation { _ in
            let text = try text.withLock { kept in
                let all = others + [operation { _ in .noContent }]
                let text = try kept ?? ByteBuffer(bytes: self.document(of: all).json.text)
                kept = text
                return text
            }
            return .content(text, "application/json")
        }
    }

    private func document(of operations: [ProviderOperation]) -> OpenAPIDocument<APIScope> {
        OpenAPIDocument(
            title: "Martlet",
            version: MartletVersion.number,
            operations: operations,
            tags: OperationTag.all,
            pathParameters: self.controllers.reduce(into: PathParameter.all) { all, controller in
                all.merge(controller.pathParameters) { $1 }
            },
            sources: PathParameter.sources + self.controllers.flatMap { $0.pathParameterSources },
            scopeName: \.rawValue
        )
    }
}
