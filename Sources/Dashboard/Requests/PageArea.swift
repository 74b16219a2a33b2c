import Hummingbird
import ProviderModel
import PushSupport

/// An area of the dashboard, which consists of related pages, such as those of schedules.
protocol PageArea: Sendable {
    var routes: [PageRoute] { get }
    /// The area's entry in the navigation menu, or `nil` for an area that is reached only from other pages.
    var menuEntry: MenuEntry? { get }
}

extension PageArea {
    var menuEntry: MenuEntry? { nil }
}

/// An area with a page that shows the errors of its forms.
protocol FormArea: PageArea {
    func page(_ request: PageRequest, error: RequestError?) async throws -> Response
}

extension FormArea {
    /// Returns the route of a form. If its handler throws a ``RequestError``, the page of the area is shown with it.
    /// - Parameters:
    ///   - scope: The scope without which the form is refused with an error page, or `nil` if any caller may post it.
    ///   - showsForbidden: Pass `false` if the page of the area is of no use to a caller who may not post the form.
    func form(
        _ path: String,
        scope: APIScope? = nil,
        showsForbidden: Bool = true,
        _ handler: @escaping @Sendable (PageRequest) async throws -> Response
    ) -> PageRoute {
        .post(path) { request in
            if let scope { try request.require(scope) }
            do {
                return try await handler(request)
            } catch let error as RequestError where showsForbidden || error.kind != .forbidden {
                return try await self.page(request, error: error)
            }
        }
    }
}
