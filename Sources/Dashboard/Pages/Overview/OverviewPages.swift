import Hummingbird
import PushSupport
import WebPages

/// The first page: the state of all apps.
struct OverviewPages: PageArea {
    var routes: [PageRoute] { [.get("", self.show)] }

    private func show(_ request: PageRequest) async throws -> Response {
        let apps = try await request.get("/v1/apps")
        return request.page("overview", title: "overview.title", ["apps": PageValue.of(apps["apps"]) ?? []])
    }
}
