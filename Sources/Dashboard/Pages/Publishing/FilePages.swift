import Hummingbird
import ProviderAPI
import PushHTTP
import WebPages

/// The page with the list of an app's files, including those that no issue uses.
struct FilePages: PageArea {
    private static let count = 50

    var routes: [PageRoute] { [.get("/apps/{app}/publishing/files", self.list)] }

    private func list(_ request: PageRequest) async throws -> Response {
        let query = URLText.query(["after": request.query("after"), "limit": "\(Self.count)"])
        let list = try await request.list("\(request.api)/files\(query)", of: FileResponse.self)
        let path = "\(Dashboard.root)\(request.publishingPath)/files"
        var pager: PageModel = [:]
        if request.query("after") != nil { pager["first"] = path }
        if let next = list.next { pager["next"] = "\(path)\(URLText.query(["after": next]))" }
        let model: PageModel = [
            "files": list.entries.map { file -> PageModel in
                var row = IssueModel.file(file)
                if row["unusedSince"] == nil { row["unusedSince"] = false }
                return row
            },
            "pager": pager.isEmpty ? false : pager, "path": "\(Dashboard.root)\(request.publishingPath)",
        ]
        return request.page("files", title: "publishing.files", model)
    }
}
