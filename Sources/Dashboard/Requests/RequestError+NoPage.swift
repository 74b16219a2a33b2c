import PushSupport
import WebPages

extension RequestError {
    /// The error of a path that no page has.
    static func noPage(_ texts: PageTexts) -> RequestError {
        RequestError(.notFound, code: "not_found", message: texts["failure.nothing"])
    }
}
