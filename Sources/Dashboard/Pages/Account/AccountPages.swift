import Hummingbird
import PushProvider
import PushSupport
import WebPages

/// The page of who is signed in.
struct AccountPages: PageArea {
    var routes: [PageRoute] { [.get("/account", self.show)] }

    private func show(_ request: PageRequest) async throws -> Response {
        request.page(
            "account",
            title: "account.title",
            ["name": request.session.caller.name, "scopes": request.session.caller.scopes]
        )
    }
}
