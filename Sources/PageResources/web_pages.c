#include "page_resources.h"

static const struct page_resource resources[] = {
#define RESOURCE "../WebPages/Resources/chart.mustache"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/entry.mustache"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/layout.mustache"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/lock-screen.mustache"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/pager.mustache"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/time.mustache"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/style.css"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/script.js"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/shared.de.json"
#include "embed.h"
#define RESOURCE "../WebPages/Resources/shared.en.json"
#include "embed.h"
    {0, 0},
};

const struct page_resource *page_resources_shared(void) { return resources; }
